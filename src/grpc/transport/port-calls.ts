import { EventEmitter } from "node:events";
import { constants, type IncomingHttpHeaders, type OutgoingHttpHeaders, type ServerHttp2Stream } from "node:http2";
import type { MessagePort } from "node:worker_threads";

import type { MicroBatch } from "../../../runtime/micro-batch.js";
import {
  batchedTo,
  type PortCallBegin,
  type PortRequest,
  type PortResponse,
  PREFIX_BYTES,
} from "../../../runtime/transport/call-port.js";

/** Takes a stream as if a connection had brought it. */
export type TakeStream = (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, rawHeaders: string[]) => void;

// The header has at most eight digits. A longer timeout than that is none.
const TIMEOUT_MILLIS_MAX = 99_999_999;

/**
 * Takes the calls that a gateway in this process posts, in place of a connection. Each goes through
 * `take` with the headers and the frames that HTTP/2 would bring: guards, handlers and the shutdown
 * treat it as any other call. `peer` stands for the address of the connection.
 */
export function takeCallsFrom(port: MessagePort, peer: string, take: TakeStream): void {
  const responses = batchedTo<PortResponse>(port);
  const session = { encrypted: false, socket: { remoteAddress: peer } };
  // By id. A Map would keep ended calls alive for the young garbage collections (docs/adr/0015).
  const streams: (PortStream | undefined)[] = [];
  const begin = (call: PortCallBegin): void => {
    const { id, path, headers, deadline } = call;
    const onEnd = (): void => {
      streams[id] = undefined;
    };
    const stream = new PortStream(call, { session, responses, onEnd });
    streams[id] = stream;
    const sent: IncomingHttpHeaders = {
      ":method": "POST",
      ":path": path,
      "content-type": "application/grpc",
      ...headers,
    };
    const timeout = Math.max(0, Math.ceil(deadline - Date.now()));
    if (timeout <= TIMEOUT_MILLIS_MAX) sent["grpc-timeout"] = `${String(timeout)}m`;
    take(stream as unknown as ServerHttp2Stream, sent, Object.entries(headers).flat());
  };
  port.on("message", (requests: readonly PortRequest[]) => {
    for (const request of requests) {
      if (request.kind === "begin") begin(request);
      else if (request.kind === "taken") streams[request.id]?.taken();
      else streams[request.id]?.cancel();
    }
  });
  // The thread of the gateway has ended.
  port.on("close", () => {
    for (const stream of streams) stream?.cancel();
  });
}

interface PortStreamOptions {
  readonly session: object;
  readonly responses: MicroBatch<PortResponse>;
  readonly onEnd: () => void;
}

/** The part of an HTTP/2 stream that grpc-js and RequestGuard use. */
class PortStream extends EventEmitter {
  readonly session: object;
  closed = false;
  destroyed = false;
  rstCode: number = constants.NGHTTP2_NO_ERROR;
  readonly #call: PortCallBegin;
  readonly #options: PortStreamOptions;
  #isRead = false;
  /** Of a call that is no stream: they are posted with the trailers. */
  #head: OutgoingHttpHeaders | undefined;
  #message: Uint8Array | undefined;
  #onTaken: (() => void) | undefined;

  constructor(call: PortCallBegin, options: PortStreamOptions) {
    super();
    this.#call = call;
    this.#options = options;
    this.session = options.session;
  }

  resume(): void {
    if (this.#isRead || this.closed) return;
    this.#isRead = true;
    const { buffer, byteOffset, byteLength } = this.#call.body;
    this.emit("data", Buffer.from(buffer, byteOffset, byteLength));
    this.emit("end");
  }

  pause(): void {
    // The body is one chunk.
  }

  respond(headers: OutgoingHttpHeaders, { endStream = false }: { endStream?: boolean } = {}): void {
    if (endStream) this.sendTrailers(headers);
    else if (this.#call.isStream) this.#post({ head: headers });
    else this.#head = headers;
  }

  /** Calls `done` when the client has taken the message of a stream. */
  write(frame: Uint8Array, done: () => void): void {
    // A copy: with a part of Node's pool of buffers, all of the pool would be posted.
    const message = new Uint8Array(frame.subarray(PREFIX_BYTES));
    if (this.#call.isStream) {
      this.#onTaken = done;
      this.#post({ message });
    } else {
      this.#message = message;
      done();
    }
  }

  taken(): void {
    const done = this.#onTaken;
    this.#onTaken = undefined;
    done?.();
  }

  end(): void {
    this.emit("wantTrailers");
  }

  sendTrailers(trailers: OutgoingHttpHeaders): void {
    this.#end(trailers);
  }

  /** The client has gone. */
  cancel(): void {
    this.destroyed = true;
    this.rstCode = constants.NGHTTP2_CANCEL;
    this.#end({});
    this.emit("close");
  }

  #end(trailers: OutgoingHttpHeaders): void {
    this.#post({ head: this.#head, message: this.#message, trailers });
    if (this.closed) return;
    this.closed = true;
    this.#options.onEnd();
  }

  /** Posts nothing after the end: the gateway gives the id to its next call. */
  #post(part: Omit<PortResponse, "id">): void {
    if (!this.closed) this.#options.responses.add({ id: this.#call.id, ...part });
  }
}
