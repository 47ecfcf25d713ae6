import {
  type Metadata,
  ServerInterceptingCall,
  type ServerInterceptingCallInterface,
  type ServerInterceptor,
  status as Status,
} from "@grpc/grpc-js";

import { callerOf, type FairShare } from "../../../runtime/fair-share.js";
import { type Link, Queue } from "../../../runtime/queue.js";
import { statusOf } from "../errors/status.js";
import { HEALTH_SERVICE } from "../standard/health.js";

type Listener = Parameters<ServerInterceptingCall["start"]>[0];

export interface CallGuardOptions {
  /** The most time that a call has to send its one request. */
  readonly requestMillisMax: number;
  /** The largest request of an rpc, by its path. */
  readonly requestBytesMaxOf: (path: string) => number;
  readonly calls: FairShare;
  /** Called for each call that the guard has ended. */
  readonly onEnded: (path: string, reason: EndReason) => void;
}

type EndReason = "DEADLINE_EXCEEDED" | "QUEUE_FULL";

const SWEEPS_PER_LIMIT = 10;
const HEALTH_PATH = `/${HEALTH_SERVICE}/`;

/**
 * Admits a call once its one request has fully arrived and its caller has a free slot. Otherwise it
 * ends the call:
 *
 * - with QUEUE_FULL, when the caller has no slot;
 * - with DEADLINE_EXCEEDED, when the request does not arrive in time. grpc-js would wait for ever,
 *   and hold the stream;
 * - as grpc-js does, when the request is too large. The limit of grpc-js is the same for all rpcs.
 *
 * All calls share one timer. A timer for each would cost more than everything else in this file.
 */
export class CallGuard {
  readonly #requestMillisMax: number;
  readonly #watch: Watch;
  readonly #sweeping: NodeJS.Timeout;

  constructor({ requestMillisMax, ...shared }: CallGuardOptions) {
    this.#requestMillisMax = requestMillisMax;
    this.#watch = { waiting: new Queue(), ...shared };
    this.#sweeping = setInterval(() => {
      this.#sweep();
    }, requestMillisMax / SWEEPS_PER_LIMIT);
    this.#sweeping.unref();
  }

  /** Goes into the server's `interceptors`. Leaves calls with a stream of requests alone. */
  readonly interceptor: ServerInterceptor = ({ requestStream, path }, call) =>
    requestStream ? new ServerInterceptingCall(call) : new GuardedCall(call, path, this.#watch);

  stop(): void {
    clearInterval(this.#sweeping);
  }

  #sweep(): void {
    const lastStart = performance.now() - this.#requestMillisMax;
    for (const call of this.#watch.waiting) {
      if (call.startedAt > lastStart) return;
      call.end("DEADLINE_EXCEEDED");
    }
  }
}

/** What all calls share. */
interface Watch extends Omit<CallGuardOptions, "requestMillisMax"> {
  /** Those whose request has not ended, in the order in which they came: the oldest first. */
  readonly waiting: Queue<GuardedCall>;
}

/**
 * A call that is counted from its headers to the end of its answer, and waits from its headers to
 * the end of its request.
 */
class GuardedCall extends ServerInterceptingCall {
  readonly startedAt = performance.now();
  readonly #path: string;
  readonly #inner: ServerInterceptingCallInterface;
  readonly #watch: Watch;
  /** Where it waits; undefined before it has started. */
  #waiting: Link<GuardedCall> | undefined;
  #caller: string | undefined;

  constructor(inner: ServerInterceptingCallInterface, path: string, watch: Watch) {
    super(inner);
    this.#path = path;
    this.#inner = inner;
    this.#watch = watch;
  }

  /** Ends the call before its handler has run. */
  end(reason: EndReason): void {
    this.#waitNoMore();
    this.#inner.sendStatus(statusOf({ reason }));
    this.#watch.onEnded(this.#path, reason);
  }

  override start(listener: Listener): void {
    this.#waiting = this.#watch.waiting.push(this);
    this.#inner.start({
      onReceiveMetadata: (metadata) => {
        if (this.#begin(metadata)) listener.onReceiveMetadata(metadata);
        else this.end("QUEUE_FULL");
      },
      onReceiveMessage: (message: unknown) => {
        if (Buffer.isBuffer(message) && message.length > this.#watch.requestBytesMaxOf(this.#path))
          this.#endAsTooLarge();
        else listener.onReceiveMessage(message);
      },
      onReceiveHalfClose: () => {
        // An end that comes after the answer would start the handler all the same.
        if (this.#waitNoMore()) listener.onReceiveHalfClose();
      },
      // However the call ended, once nothing of it is left.
      onCancel: () => {
        this.#waitNoMore();
        if (this.#caller !== undefined) this.#watch.calls.release(this.#caller);
        listener.onCancel();
      },
    });
  }

  #endAsTooLarge(): void {
    this.#waitNoMore();
    this.#inner.sendStatus({ code: Status.RESOURCE_EXHAUSTED, details: "Received message larger than max" });
  }

  /** Answers whether it was still waiting. */
  #waitNoMore(): boolean {
    return this.#waiting !== undefined && this.#watch.waiting.remove(this.#waiting);
  }

  /** Counts the call, save those that ask how we are: they are answered whatever else there is. */
  #begin(metadata: Metadata): boolean {
    if (this.#path.startsWith(HEALTH_PATH)) return true;
    const caller = callerOf((metadata.get("x-api-key")[0] ?? metadata.get("authorization")[0] ?? "").toString());
    if (!this.#watch.calls.acquire(caller)) return false;
    this.#caller = caller;
    return true;
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
