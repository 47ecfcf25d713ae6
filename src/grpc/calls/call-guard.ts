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
  /** Maximum time for the request of a call to arrive. */
  readonly requestMillisMax: number;
  /** Returns the maximum size of a request to the rpc with this path. */
  readonly requestBytesMaxOf: (path: string) => number;
  readonly calls: FairShare;
  /** Called for each call that the guard ended. */
  readonly onEnded: (path: string, reason: EndReason) => void;
}

type EndReason = "DEADLINE_EXCEEDED" | "QUEUE_FULL";

const SWEEPS_PER_LIMIT = 10;
const HEALTH_PATH = `/${HEALTH_SERVICE}/`;

/**
 * Admits a call once its request has fully arrived and a slot is free.
 *
 * - Ends a call with DEADLINE_EXCEEDED if its request does not arrive in time. grpc-js would wait
 *   for ever and keep the stream.
 * - Ends a call with QUEUE_FULL if no slot is free.
 * - Ends a call whose request is too large with the error of grpc-js, whose own limit is the same
 *   for all rpcs.
 *
 * One timer serves all calls, because a timer for each call would cost more than all other work
 * here.
 */
export class CallGuard {
  readonly #requestMillisMax: number;
  readonly #state: GuardState;
  readonly #sweeping: NodeJS.Timeout;

  constructor({ requestMillisMax, ...shared }: CallGuardOptions) {
    this.#requestMillisMax = requestMillisMax;
    this.#state = { waiting: new Queue(), ...shared };
    this.#sweeping = setInterval(() => {
      this.#sweep();
    }, requestMillisMax / SWEEPS_PER_LIMIT);
    this.#sweeping.unref();
  }

  /**
   * Belongs into the `interceptors` of the server. Does not guard calls with a stream of requests.
   */
  readonly interceptor: ServerInterceptor = ({ requestStream, path }, call) =>
    requestStream ? new ServerInterceptingCall(call) : new GuardedCall(call, path, this.#state);

  stop(): void {
    clearInterval(this.#sweeping);
  }

  #sweep(): void {
    const lastStart = performance.now() - this.#requestMillisMax;
    for (const call of this.#state.waiting) {
      if (call.startedAt > lastStart) return;
      call.end("DEADLINE_EXCEEDED");
    }
  }
}

/** The state that all calls share. */
interface GuardState extends Omit<CallGuardOptions, "requestMillisMax"> {
  /** The calls whose request has not fully arrived, oldest first. */
  readonly waiting: Queue<GuardedCall>;
}

/**
 * Holds a slot from the call's headers to the end of its response. Waits from its headers to the
 * end of its request.
 */
class GuardedCall extends ServerInterceptingCall {
  readonly startedAt = performance.now();
  readonly #path: string;
  readonly #inner: ServerInterceptingCallInterface;
  readonly #state: GuardState;
  /** The call's place in `waiting`. Undefined before the call starts. */
  #waiting: Link<GuardedCall> | undefined;
  #caller: string | undefined;

  constructor(inner: ServerInterceptingCallInterface, path: string, state: GuardState) {
    super(inner);
    this.#path = path;
    this.#inner = inner;
    this.#state = state;
  }

  /** Ends the call before its handler runs. */
  end(reason: EndReason): void {
    this.#stopWaiting();
    this.#inner.sendStatus(statusOf({ reason }));
    this.#state.onEnded(this.#path, reason);
  }

  override start(listener: Listener): void {
    this.#waiting = this.#state.waiting.push(this);
    this.#inner.start({
      onReceiveMetadata: (metadata) => {
        if (this.#acquireSlot(metadata)) listener.onReceiveMetadata(metadata);
        else this.end("QUEUE_FULL");
      },
      onReceiveMessage: (message: unknown) => {
        if (Buffer.isBuffer(message) && message.length > this.#state.requestBytesMaxOf(this.#path))
          this.#endAsTooLarge();
        else listener.onReceiveMessage(message);
      },
      onReceiveHalfClose: () => {
        // The request may end after the call was refused. grpc-js would then still start the
        // handler.
        if (this.#stopWaiting()) listener.onReceiveHalfClose();
      },
      // grpc-js calls onCancel after every call, however it ended.
      onCancel: () => {
        this.#stopWaiting();
        if (this.#caller !== undefined) this.#state.calls.release(this.#caller);
        listener.onCancel();
      },
    });
  }

  #endAsTooLarge(): void {
    this.#stopWaiting();
    this.#inner.sendStatus({ code: Status.RESOURCE_EXHAUSTED, details: "Received message larger than max" });
  }

  /** Returns whether the call was still waiting. */
  #stopWaiting(): boolean {
    return this.#waiting !== undefined && this.#state.waiting.remove(this.#waiting);
  }

  /**
   * Acquires a slot for the call. Health checks need none, so they succeed under overload, too.
   */
  #acquireSlot(metadata: Metadata): boolean {
    if (this.#path.startsWith(HEALTH_PATH)) return true;
    const caller = callerOf((metadata.get("x-api-key")[0] ?? metadata.get("authorization")[0] ?? "").toString());
    if (!this.#state.calls.acquire(caller)) return false;
    this.#caller = caller;
    return true;
  }

  // The guard does not change responses. These overrides skip the inherited methods, which would
  // wrap each step again.
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
