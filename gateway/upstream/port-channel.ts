import type { IncomingHttpHeaders } from "node:http2";
import type { MessagePort } from "node:worker_threads";

import type { status as Status } from "@grpc/grpc-js";
import { Metadata, type StatusObject } from "@grpc/grpc-js";

import type { MicroBatch } from "../../runtime/micro-batch.js";
import { batchedTo, type PortRequest, type PortResponse, PREFIX_BYTES } from "../../runtime/transport/call-port.js";
import type { Channel, ChannelCall } from "./channel.js";

type Listener = Parameters<ChannelCall["start"]>[1];

/** The way to the server of this process, which runs in another thread. */
export class PortChannel implements Channel {
  readonly #port: MessagePort;
  readonly #state: PortState;

  constructor(port: MessagePort) {
    this.#port = port;
    this.#state = { calls: [], freeIds: [], requests: batchedTo<PortRequest>(port) };
    const { calls, freeIds } = this.#state;
    port.on("message", (responses: readonly PortResponse[]) => {
      for (const response of responses) {
        const { id } = response;
        const call = calls[id];
        if (response.trailers !== undefined) {
          calls[id] = undefined;
          freeIds.push(id);
        }
        call?.receive(response);
      }
    });
  }

  createCall(path: string, deadline: number): ChannelCall {
    return new PortCall(this.#state, { path, deadline, isStream: false });
  }

  createStream(path: string, deadline: number): { readonly call: ChannelCall; readonly release: () => void } {
    return { call: new PortCall(this.#state, { path, deadline, isStream: true }), release: () => undefined };
  }

  close(): void {
    this.#port.close();
  }
}

interface PortState {
  /** By id. A Map would keep ended calls alive for young collections (docs/adr/0015). */
  readonly calls: (PortCall | undefined)[];
  readonly freeIds: number[];
  readonly requests: MicroBatch<PortRequest>;
}

interface PortCallOptions {
  readonly path: string;
  readonly deadline: number;
  readonly isStream: boolean;
}

class PortCall implements ChannelCall {
  readonly #state: PortState;
  readonly #options: PortCallOptions;
  readonly #id: number;
  #headers: Record<string, string> = {};
  #body = new Uint8Array();
  /** Undefined after the end. */
  #listener: Listener | undefined;
  #isReading = false;
  #message: Uint8Array | undefined;
  #status: StatusObject | undefined;

  constructor(state: PortState, options: PortCallOptions) {
    this.#state = state;
    this.#options = options;
    const { calls, freeIds } = state;
    this.#id = freeIds.pop() ?? calls.length;
    calls[this.#id] = this;
  }

  start(metadata: Metadata, listener: Listener): void {
    this.#headers = metadata.toHttp2Headers() as Record<string, string>;
    this.#listener = listener;
  }

  sendMessageWithContext(_: object, message: Uint8Array): void {
    this.#body = new Uint8Array(PREFIX_BYTES + message.length);
    new DataView(this.#body.buffer).setUint32(1, message.length);
    this.#body.set(message, PREFIX_BYTES);
  }

  halfClose(): void {
    const { path, deadline, isStream } = this.#options;
    const [headers, body] = [this.#headers, this.#body];
    this.#state.requests.add({ kind: "begin", id: this.#id, path, headers, deadline, body, isStream });
  }

  startRead(): void {
    this.#isReading = true;
    this.#give();
  }

  cancelWithStatus(code: Status, details: string): void {
    if (this.#listener === undefined) return;
    this.#state.requests.add({ kind: "cancel", id: this.#id });
    this.#message = undefined;
    this.#status = { code, details, metadata: new Metadata() };
    this.#give();
  }

  receive({ head, message, trailers }: PortResponse): void {
    if (head !== undefined) this.#listener?.onReceiveMetadata(metadataOf(head));
    if (message !== undefined) this.#message = message;
    if (trailers !== undefined) this.#status = statusOf(trailers);
    this.#give();
  }

  #give(): void {
    if (this.#message !== undefined) {
      if (!this.#isReading) return;
      const message = this.#message;
      this.#message = undefined;
      this.#isReading = false;
      if (this.#status === undefined) this.#state.requests.add({ kind: "taken", id: this.#id });
      this.#listener?.onReceiveMessage(message);
    }
    if (this.#status === undefined) return;
    const listener = this.#listener;
    this.#listener = undefined;
    listener?.onReceiveStatus(this.#status);
  }
}

function metadataOf(headers: PortResponse["head"]): Metadata {
  return Metadata.fromHttp2Headers(headers as IncomingHttpHeaders);
}

function statusOf(trailers: PortResponse["trailers"] = {}): StatusObject {
  const { "grpc-status": code, "grpc-message": details, ...others } = trailers;
  return { code: code as unknown as Status, details: decodeURI(String(details)), metadata: metadataOf(others) };
}
