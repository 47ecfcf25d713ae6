import { randomUUID } from "node:crypto";

import { type ChannelCredentials, Client, Metadata } from "@grpc/grpc-js";

import { KescError } from "./kesc-error.js";
import { NO_TLS, type TlsFiles, tlsTo } from "./tls.js";

const TIMEOUT_MILLIS = 30_000;
const KEEPALIVE_MILLIS = 60_000;
/** Nobody between the two programs can listen there. */
const LOCAL = /^(unix:.+|(localhost|127\.[0-9.]+|\[::1\]):[0-9]+)$/;

export interface KescClientOptions {
  /** "host:port" of the gRPC server. */
  readonly address: string;
  /** White space around it is cut off. */
  readonly apiKey: string;
  /** Default: the roots of the system. An address of the loopback needs no TLS. */
  readonly tls?: TlsFiles | undefined;
  /**
   * In place of `tls`: credentials of your own. From Node 25 on, those of grpc-js 1.14 cannot
   * connect over TLS to an IP address.
   */
  readonly credentials?: ChannelCredentials | undefined;
  /** The time for a call with all its tries, in milliseconds. Default: 30 seconds. */
  readonly timeoutMillis?: number | undefined;
}

/** A call, from its beginning to its end, with all its tries. */
export interface Running {
  readonly requestId: string;
  readonly metadata: Metadata;
  /** Aborts when the caller's signal aborts, or when the client is closed. */
  readonly signal: AbortSignal;
  readonly end: () => void;
}

/** The channel to the server, and the calls that are under way on it. */
export class Connection {
  readonly client: Client;
  readonly timeoutMillis: number;
  readonly #apiKey: string;
  readonly #running = new Set<AbortController>();
  #isClosed = false;

  constructor({ address, apiKey, tls, credentials: given, timeoutMillis = TIMEOUT_MILLIS }: KescClientOptions) {
    this.#apiKey = headerOf(apiKey);
    if (typeof address !== "string" || address === "" || /^[a-z]+:\/\/[^/]/.test(address)) {
      throw new TypeError('address must be "host:port" of the gRPC server, without "http://"');
    }
    this.timeoutMillis = timeoutMillis;
    const channelOptions = { "grpc.keepalive_time_ms": KEEPALIVE_MILLIS };
    if (given === undefined) {
      const own = LOCAL.test(address) && tls === undefined ? NO_TLS : tlsTo(address, tls);
      this.client = new Client(address, own.credentials, { ...channelOptions, ...own.channelOptions });
    } else this.client = new Client(address, given, channelOptions);
  }

  /** Begins a call. Throws the reason of an aborted signal, or a KescError after close(). */
  begin(callers: AbortSignal | undefined): Running {
    callers?.throwIfAborted();
    const requestId = randomUUID();
    if (this.#isClosed) throw closed(requestId);
    const metadata = new Metadata();
    metadata.set("x-api-key", this.#apiKey);
    metadata.set("x-request-id", requestId);
    const controller = new AbortController();
    const abort = (): void => {
      controller.abort(callers?.reason);
    };
    callers?.addEventListener("abort", abort);
    this.#running.add(controller);
    const end = (): void => {
      callers?.removeEventListener("abort", abort);
      this.#running.delete(controller);
    };
    return { requestId, metadata, signal: controller.signal, end };
  }

  close(): void {
    this.#isClosed = true;
    for (const controller of this.#running) controller.abort(closed());
    this.client.close();
  }
}

function closed(requestId?: string): KescError {
  return new KescError({ code: "CANCELLED", message: "The client is closed.", facts: {}, fields: [] }, requestId);
}

/**
 * Returns the key as a header has it. grpc-js would throw an error that shows the key, and errors
 * get into logs.
 */
function headerOf(apiKey: string): string {
  const key = typeof apiKey === "string" ? apiKey.trim() : "";
  if (/^[\x21-\x7e]+$/.test(key)) return key;
  throw new TypeError("apiKey must be one line of printable ASCII characters");
}
