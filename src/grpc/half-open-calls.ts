import {
  ServerInterceptingCall,
  type Metadata,
  type ServerInterceptingCallInterface,
  type ServerInterceptor,
} from "@grpc/grpc-js";

import { statusOf } from "./status.js";

type Listener = Parameters<ServerInterceptingCall["start"]>[0];

export interface HalfOpenCallsOptions {
  /** How long a call may take to send its one request. */
  readonly requestMillisMax: number;
  /** Hears of each call that took longer, by its path. */
  readonly onExpired: (path: string) => void;
}

const SWEEPS_PER_LIMIT = 10;

/**
 * Ends calls whose one request never comes to its end with DEADLINE_EXCEEDED: grpc-js waits for it for ever, and holds
 * the stream. Their handlers never run.
 *
 * One timer for all of them: a timer a call would cost more than the rest of what is done here.
 */
export class HalfOpenCalls {
  readonly #options: HalfOpenCallsOptions;
  // In the order in which they came: the oldest first.
  readonly #waiting = new Set<WatchedCall>();
  readonly #sweeping: NodeJS.Timeout;

  constructor(options: HalfOpenCallsOptions) {
    this.#options = options;
    this.#sweeping = setInterval(() => {
      this.#sweep();
    }, options.requestMillisMax / SWEEPS_PER_LIMIT);
    this.#sweeping.unref();
  }

  /** Goes into the server's `interceptors`. Leaves calls with a stream of requests alone. */
  readonly interceptor: ServerInterceptor = ({ requestStream, path }, call) =>
    requestStream ? new ServerInterceptingCall(call) : new WatchedCall(call, { path, waiting: this.#waiting });

  stop(): void {
    clearInterval(this.#sweeping);
  }

  #sweep(): void {
    const lastStart = performance.now() - this.#options.requestMillisMax;
    for (const call of this.#waiting) {
      if (call.startedAt > lastStart) return;
      this.#waiting.delete(call);
      call.sendStatus(statusOf({ reason: "DEADLINE_EXCEEDED" }));
      this.#options.onExpired(call.path);
    }
  }
}

/** A call that is in `waiting` from its headers to the end of its request. */
class WatchedCall extends ServerInterceptingCall {
  readonly startedAt = performance.now();
  readonly path: string;
  readonly #inner: ServerInterceptingCallInterface;
  readonly #waiting: Set<WatchedCall>;

  constructor(inner: ServerInterceptingCallInterface, { path, waiting }: { path: string; waiting: Set<WatchedCall> }) {
    super(inner);
    this.path = path;
    this.#inner = inner;
    this.#waiting = waiting;
  }

  override start(listener: Listener): void {
    this.#waiting.add(this);
    this.#inner.start({
      onReceiveMetadata: (metadata) => {
        listener.onReceiveMetadata(metadata);
      },
      onReceiveMessage: (message) => {
        listener.onReceiveMessage(message);
      },
      onReceiveHalfClose: () => {
        // An end that comes after the answer would start the handler all the same.
        if (this.#waiting.delete(this)) listener.onReceiveHalfClose();
      },
      onCancel: () => {
        this.#waiting.delete(this);
        listener.onCancel();
      },
    });
  }

  // The way out is not ours: past the inherited methods, which would wrap each step once more.
  override sendMetadata(metadata: Metadata): void {
    this.#inner.sendMetadata(metadata);
  }

  override sendMessage(message: unknown, callback: () => void): void {
    this.#inner.sendMessage(message, callback);
  }

  override sendStatus(status: Parameters<ServerInterceptingCall["sendStatus"]>[0]): void {
    this.#inner.sendStatus(status);
  }
}
