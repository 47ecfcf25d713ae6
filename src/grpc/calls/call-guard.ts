import {
  type Metadata,
  ServerInterceptingCall,
  type ServerInterceptingCallInterface,
  type ServerInterceptor,
} from "@grpc/grpc-js";

import { FairQueue } from "../../../runtime/fair-queue.js";
import type { FairShare } from "../../../runtime/fair-share.js";
import { FairTurns } from "../../../runtime/fair-turns.js";
import { statusOf } from "../errors/status.js";

type CallListener = Parameters<ServerInterceptingCall["start"]>[0];

export interface CallGuardOptions {
  /** Returns the organization of a call whose key is known to be valid. */
  readonly organizationOf: (metadata: Metadata) => string | undefined;
  /** The slots of calls with a known key, shared by organizations. */
  readonly calls: FairShare;
  /** The slots of calls that need a key and have none that is known, shared by connections. */
  readonly newCalls: FairShare;
  /** Whether the rpc with this path belongs to a standard service, which needs no key. */
  readonly isOpen: (path: string) => boolean;
  /** Whether the rpc with this path is public: an rpc of ours that needs no key. */
  readonly isPublic: (path: string) => boolean;
  /** The slots of calls of public rpcs, shared by connections. */
  readonly publicCalls: FairShare;
  /** The slots of streams that need no key, such as health watches, shared by connections. */
  readonly openCalls: FairShare;
  /** Called for each call that the guard refused. */
  readonly onRefused: (path: string, reason: "QUEUE_FULL") => void;
}

// The callers of calls without a known key, and of rpcs that need none. Each has the turns of one
// organization, and its connections take turns.
const NEW_CALLER = "new";
const PUBLIC_CALLER = "public";
const OPEN_CALLER = "open";
// A health check ends at once and needs no slot, so it succeeds when others hold all of them.
const HEALTH_CHECK = /\/(Check|List)$/;
// The maximum number of calls that wait for their turn when one more refusal is to wait, too.
// Beyond it, a call without a slot is refused at once.
const REFUSALS_WAITING_MAX = 50_000;
// To write a byte of a response takes the event loop less than to decode one of a request.
const WRITTEN_BYTES_FOR_ONE = 8;

/**
 * Admits a call when it has a slot, its request has fully arrived, and its caller has its turn. A
 * stream of requests is admitted before its first request. RequestGuard passes only well-formed
 * requests on to this guard. Each message of a stream of responses waits for a turn of its caller.
 *
 * Ends a call with QUEUE_FULL if no slot is free. This refusal waits for the caller's turn, too.
 * The client's limit of calls on a connection then holds the client back (docs/adr/0009).
 */
export class CallGuard {
  readonly #state: GuardState;

  constructor(options: CallGuardOptions) {
    this.#state = {
      turns: new FairTurns(),
      newTurns: new FairQueue(Infinity),
      publicTurns: new FairQueue(Infinity),
      openTurns: new FairQueue(Infinity),
      ...options,
    };
  }

  /** Belongs into the `interceptors` of the server. */
  readonly interceptor: ServerInterceptor = (rpc, call) => new GuardedCall(call, rpc, this.#state);
}

/** The state that all calls share. */
interface GuardState extends CallGuardOptions {
  readonly turns: FairTurns;
  /** The calls of NEW_CALLER, of PUBLIC_CALLER and of OPEN_CALLER, by connection. */
  readonly newTurns: FairQueue<string, () => void>;
  readonly publicTurns: FairQueue<string, () => void>;
  readonly openTurns: FairQueue<string, () => void>;
}

type GuardedRpc = Pick<Parameters<ServerInterceptor>[0], "path" | "requestStream" | "responseStream">;

/** The caller of a call, as far as the guard knows it. */
interface GuardedCaller {
  /** Undefined if the call needs no slot. */
  readonly share: FairShare | undefined;
  /** The name under which the caller holds slots. */
  readonly holder: string;
  /** The name under which the caller takes turns. */
  readonly line: string;
  /** The turns within the line. */
  readonly connections: FairQueue<string, () => void> | undefined;
}

/** Holds a slot from the call's headers to the end of its response. */
class GuardedCall extends ServerInterceptingCall {
  readonly #rpc: GuardedRpc;
  readonly #inner: ServerInterceptingCallInterface;
  readonly #state: GuardState;
  #caller: GuardedCaller | undefined;
  #hasSlot = false;
  #requestBytes = 0;
  #isOver = false;

  constructor(inner: ServerInterceptingCallInterface, rpc: GuardedRpc, state: GuardState) {
    super(inner);
    this.#rpc = rpc;
    this.#inner = inner;
    this.#state = state;
  }

  override start(listener: CallListener): void {
    this.#inner.start({
      onReceiveMetadata: (metadata) => {
        const begin = (): void => {
          listener.onReceiveMetadata(metadata);
        };
        const caller = this.#callerOf(metadata);
        this.#caller = caller;
        this.#hasSlot = caller.share?.acquire(caller.holder) ?? true;
        if (!this.#hasSlot) this.#refuse(caller);
        else if (this.#rpc.requestStream) this.#atTurn(caller, begin);
        else begin();
      },
      onReceiveMessage: (message: unknown) => {
        this.#requestBytes = Buffer.isBuffer(message) ? message.length : 0;
        listener.onReceiveMessage(message);
      },
      onReceiveHalfClose: () => {
        const begin = (): void => {
          listener.onReceiveHalfClose();
        };
        if (this.#rpc.requestStream) begin();
        else if (this.#hasSlot && this.#caller !== undefined) this.#atTurn(this.#caller, begin);
      },
      // grpc-js calls onCancel after every call, however it ended.
      onCancel: () => {
        this.#isOver = true;
        if (this.#hasSlot) this.#caller?.share?.release(this.#caller.holder);
        listener.onCancel();
      },
    });
  }

  #atTurn({ line, holder, connections }: GuardedCaller, begin: () => void, bytes = this.#requestBytes): void {
    const { turns } = this.#state;
    const beginUnlessOver = (): void => {
      // The client may have cancelled the call meanwhile.
      if (!this.#isOver) begin();
    };
    if (connections === undefined) turns.add(line, bytes, beginUnlessOver);
    else {
      connections.push(holder, beginUnlessOver);
      turns.add(line, bytes, () => {
        connections.shift()?.();
      });
    }
  }

  #refuse(caller: GuardedCaller): void {
    const end = (): void => {
      this.#isOver = true;
      this.#inner.sendStatus(statusOf({ reason: "QUEUE_FULL" }));
      this.#state.onRefused(this.#rpc.path, "QUEUE_FULL");
    };
    if (this.#state.turns.length < REFUSALS_WAITING_MAX) this.#atTurn(caller, end);
    else end();
  }

  #callerOf(metadata: Metadata): GuardedCaller {
    const { isOpen, isPublic, organizationOf, calls, newCalls, openCalls, newTurns, openTurns } = this.#state;
    const holder = this.#inner.getPeer();
    if (isPublic(this.#rpc.path)) {
      const { publicCalls, publicTurns } = this.#state;
      return { share: publicCalls, holder, line: PUBLIC_CALLER, connections: publicTurns };
    }
    if (isOpen(this.#rpc.path)) {
      const share = HEALTH_CHECK.test(this.#rpc.path) ? undefined : openCalls;
      return { share, holder, line: OPEN_CALLER, connections: openTurns };
    }
    const organization = organizationOf(metadata);
    return organization === undefined
      ? { share: newCalls, holder, line: NEW_CALLER, connections: newTurns }
      : { share: calls, holder: organization, line: organization, connections: undefined };
  }

  // These overrides skip the inherited methods, which would wrap each step again.
  override sendMetadata(metadata: Metadata): void {
    this.#inner.sendMetadata(metadata);
  }

  override sendMessage(message: unknown, callback: () => void): void {
    const { requestStream, responseStream } = this.#rpc;
    const send = (): void => {
      this.#inner.sendMessage(message, callback);
    };
    if (!responseStream || requestStream || this.#caller === undefined) send();
    else this.#atTurn(this.#caller, send, Buffer.isBuffer(message) ? message.length / WRITTEN_BYTES_FOR_ONE : 0);
  }

  override sendStatus(status: Parameters<ServerInterceptingCall["sendStatus"]>[0]): void {
    this.#inner.sendStatus(status);
  }
}
