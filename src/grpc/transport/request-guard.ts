import { constants, type Http2Session, type IncomingHttpHeaders, type ServerHttp2Stream } from "node:http2";

import {
  Metadata,
  type Server,
  ServerInterceptingCall,
  type ServerInterceptingCallInterface,
  type ServerInterceptor,
  status as Status,
} from "@grpc/grpc-js";

import { requestIdOf } from "../../../runtime/caller-ids.js";
import { Queue, type QueueLink } from "../../../runtime/queue.js";
import type { AnyRefusal, Reason } from "../errors/refusal.js";
import { hasDetails, type RefusalStatus, statusOf } from "../errors/status.js";
import { stampPeer } from "./peer-certificate.js";
import { COMPRESSIONS, isGrpc, refusalOfHeaders, RequestFrames } from "./request-rules.js";

type RequestListener = Parameters<ServerInterceptingCall["start"]>[0];
type ReceivedRpc = Pick<Parameters<ServerInterceptor>[0], "path" | "requestStream">;
type SentStatus = Parameters<ServerInterceptingCall["sendStatus"]>[0];

export interface RequestGuardOptions {
  /** Maximum time for the request of a call to arrive. */
  readonly requestMillisMax: number;
  /** Returns the maximum size of a request to the rpc with this path. */
  readonly requestBytesMaxOf: (path: string) => number;
  /** Whether the rpc with this path streams messages. */
  readonly streams: (path: string) => boolean;
  /** Whether the rpc with this path may change something. */
  readonly writes: (path: string) => boolean;
  /** Called for each call that the guard refused. The path is undefined if no rpc has it. */
  readonly onRefused: (path: string | undefined, reason: Reason) => void;
}

/** What Node's event `stream` gives. */
type StreamEvent = [stream: ServerHttp2Stream, headers: IncomingHttpHeaders, flags: number, rawHeaders: string[]];

/** Private parts of grpc-js's server: the method that takes each HTTP/2 stream, and the rpcs. */
interface ServerParts {
  _streamHandler?: (interceptors: unknown, ...event: StreamEvent) => void;
  readonly handlers?: ReadonlyMap<string, unknown>;
}

const SWEEPS_PER_LIMIT = 10;
const REQUEST_ID = "x-request-id";

/**
 * Refuses each request that is malformed, too large or too slow, before its handler runs. Each
 * refusal has a reason, also those that grpc-js makes itself.
 *
 * It is the first interceptor of the server. Interceptors see neither the method nor the frames of
 * a request, so it also stands before grpc-js's own handler of HTTP/2 streams (docs/adr/0029).
 *
 * One timer serves all calls, because a timer for each call would cost more than all other work
 * here.
 */
export class RequestGuard {
  readonly #options: RequestGuardOptions;
  readonly #state: RequestGuardState;
  readonly #sweeping: NodeJS.Timeout;
  /** The connections that have had a stream of messages, by their peer. */
  readonly #streaming = new Map<string, { readonly session: Http2Session; readonly stops: Set<() => void> }>();
  #takeStream: ((...event: StreamEvent) => void) | undefined;
  /** The stream for which grpc-js makes a call now. It calls the interceptors at once. */
  #stream: { readonly stream: ServerHttp2Stream; readonly headers: IncomingHttpHeaders } | undefined;

  constructor(options: RequestGuardOptions) {
    this.#options = options;
    this.#state = { arriving: new Queue(), open: 0, onIdle: () => undefined, ...options };
    this.#sweeping = setInterval(() => {
      this.#sweep();
      this.#stopStreamsOfClosing();
    }, options.requestMillisMax / SWEEPS_PER_LIMIT);
    this.#sweeping.unref();
  }

  /** Belongs into the `interceptors` of the server, before all others. */
  readonly interceptor: ServerInterceptor = (rpc, call) => {
    if (this.#stream === undefined) throw new Error("grpc-js made a call without a stream");
    return new ArrivingCall(call, rpc, { ...this.#stream, state: this.#state });
  };

  /** Must be called before the server takes connections. */
  attachTo(server: Server): void {
    const parts = server as unknown as ServerParts;
    const handle = parts._streamHandler?.bind(server);
    const { handlers } = parts;
    if (handle === undefined || handlers === undefined) {
      throw new Error("this version of grpc-js takes its streams in another way");
    }
    const handleStream: typeof handle = (interceptors, stream, headers, flags, rawHeaders) => {
      const path = String(headers[":path"]);
      const isRpc = handlers.has(path);
      const noSuchRpc = isRpc ? undefined : ({ reason: "NO_SUCH_RPC" } as const);
      const refusal = refusalOfHeaders(headers, rawHeaders) ?? noSuchRpc;
      if (refusal === undefined) {
        stampPeer(headers, stream);
        if (this.#options.streams(path)) this.#noteStreaming(stream);
        this.#stream = { stream, headers };
        handle(interceptors, stream, headers, flags, rawHeaders);
        this.#stream = undefined;
      } else if (!stream.destroyed && !stream.closed) {
        refuseStream(stream, headers, refusal);
        this.#options.onRefused(isRpc ? path : undefined, refusal.reason);
      }
    };
    parts._streamHandler = handleStream;
    this.#takeStream = (...event) => {
      handleStream([], ...event);
    };
  }

  /** Takes a stream that no connection brought. `attachTo` must have been called. */
  take(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, rawHeaders: string[]): void {
    this.#takeStream?.(stream, headers, 0, rawHeaders);
  }

  /** Ends the calls whose request has not fully arrived. */
  refuseArriving(): void {
    for (const call of this.#state.arriving) call.refuse({ reason: "SHUTTING_DOWN" });
  }

  /** Resolves when no call is open. */
  idle(): Promise<void> {
    return new Promise((resolve) => {
      this.#state.onIdle = resolve;
      if (this.#state.open === 0) resolve();
    });
  }

  /**
   * Calls `stop` when the connection that `getPeer` of a stream names is asked to close, which
   * happens at its age. The streams on it end before the grace period does, with a reason. Returns
   * a function that removes `stop`.
   */
  onConnectionClosing(peer: string, stop: () => void): () => void {
    const stops = this.#streaming.get(peer)?.stops;
    stops?.add(stop);
    return () => stops?.delete(stop);
  }

  stop(): void {
    clearInterval(this.#sweeping);
  }

  #sweep(): void {
    const lastStart = performance.now() - this.#options.requestMillisMax;
    for (const call of this.#state.arriving) {
      if (call.startedAt > lastStart) return;
      call.refuse({ reason: "DEADLINE_EXCEEDED" });
    }
  }

  #noteStreaming({ session }: ServerHttp2Stream): void {
    const { remoteAddress, remotePort } = session?.socket ?? {};
    // As getPeer() writes it. The connections of a Unix socket have no name.
    const peer = `${String(remoteAddress)}:${String(remotePort)}`;
    if (session === undefined || remotePort === undefined || this.#streaming.has(peer)) return;
    this.#streaming.set(peer, { session, stops: new Set() });
    session.once("close", () => this.#streaming.delete(peer));
  }

  /** grpc-js begins to close a session at its age, and tells nobody. */
  #stopStreamsOfClosing(): void {
    for (const { session, stops } of this.#streaming.values()) {
      if (!session.closed) continue;
      for (const stop of stops) stop();
      stops.clear();
    }
  }
}

/** The state that all calls share. */
interface RequestGuardState extends RequestGuardOptions {
  /** The calls whose one request has not fully arrived, oldest first. */
  readonly arriving: Queue<ArrivingCall>;
  /** The number of calls that have begun and not ended. */
  open: number;
  onIdle: () => void;
}

interface ArrivingCallOptions {
  readonly stream: ServerHttp2Stream;
  readonly headers: IncomingHttpHeaders;
  readonly state: RequestGuardState;
}

/** Passes the parts of a request on while they are well-formed, and nothing after they are not. */
class ArrivingCall extends ServerInterceptingCall {
  readonly startedAt = performance.now();
  readonly #inner: ServerInterceptingCallInterface;
  readonly #rpc: ReceivedRpc;
  readonly #stream: ServerHttp2Stream;
  readonly #headers: IncomingHttpHeaders;
  readonly #state: RequestGuardState;
  readonly #bytesMax: number;
  /** The call's place in `arriving`. Undefined before the call starts, and for a stream. */
  #link: QueueLink<ArrivingCall> | undefined;
  /** Whether the handler may have begun. */
  #isPassedOn = false;
  #isOver = false;

  constructor(
    inner: ServerInterceptingCallInterface,
    rpc: ReceivedRpc,
    { stream, headers, state }: ArrivingCallOptions,
  ) {
    super(inner);
    this.#inner = inner;
    this.#rpc = rpc;
    this.#stream = stream;
    this.#headers = headers;
    this.#state = state;
    this.#bytesMax = state.requestBytesMaxOf(rpc.path);
    this.#explainStatuses();
    this.#checkFrames(COMPRESSIONS.has(String(headers["grpc-encoding"])));
  }

  /** Ends the call. */
  refuse(refusal: AnyRefusal): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#state.onRefused(this.#rpc.path, refusal.reason);
    this.#inner.sendStatus(statusOf(refusal));
  }

  override start(listener: RequestListener): void {
    this.#inner.start({
      onReceiveMetadata: (metadata) => {
        this.#state.open += 1;
        if (this.#rpc.requestStream) this.#isPassedOn = true;
        else this.#link = this.#state.arriving.push(this);
        listener.onReceiveMetadata(metadata);
      },
      onReceiveMessage: (message: unknown) => {
        // The frames limit the compressed size.
        const isTooLarge = Buffer.isBuffer(message) && message.length > this.#bytesMax;
        if (isTooLarge) this.refuse({ reason: "REQUEST_TOO_LARGE", bytesMax: this.#bytesMax });
        else if (!this.#isOver) listener.onReceiveMessage(message);
      },
      onReceiveHalfClose: () => {
        if (this.#isOver) return;
        this.#isPassedOn = true;
        this.#leaveArriving();
        listener.onReceiveHalfClose();
      },
      // grpc-js calls onCancel after every call, however it ended.
      onCancel: () => {
        this.#isOver = true;
        this.#leaveArriving();
        this.#state.open -= 1;
        if (this.#state.open === 0) this.#state.onIdle();
        listener.onCancel();
      },
    });
  }

  /** Checks each chunk before grpc-js reads it: grpc-js has added its listeners already. */
  #checkFrames(isCompressed: boolean): void {
    const { requestStream: isStream } = this.#rpc;
    const frames = new RequestFrames({ isStream, isCompressed, bytesMax: this.#bytesMax });
    const stream = this.#stream;
    stream.prependListener("data", (chunk: Buffer) => {
      if (this.#isOver) return;
      const refusal = frames.read(chunk);
      if (refusal !== undefined) this.refuse(refusal);
    });
    stream.prependListener("end", () => {
      // Node also ends a stream that the client has reset. Its request is not complete.
      if (stream.closed) this.#isOver = true;
      const refusal = this.#isOver ? undefined : frames.end();
      if (refusal !== undefined) this.refuse(refusal);
    });
  }

  /**
   * Gives a reason to each status that grpc-js makes itself, and the request's id to each refusal.
   * grpc-js sends all of them through this method of the innermost call, below all interceptors.
   */
  #explainStatuses(): void {
    const inner = this.#inner;
    const send = inner.sendStatus.bind(inner);
    inner.sendStatus = (status) => {
      const isOwn = status.code === Status.OK || hasDetails(status) || this.#isOver;
      const sent = isOwn ? status : this.#explained(status);
      send(sent.code === Status.OK ? sent : withRequestId(sent, this.#headers));
      if (this.#leaveArriving()) {
        this.#isOver = true;
        // The client must not send the remaining request: nobody reads it. On Node 22 a reset in
        // the turn of the status would overtake it, and the client would never get the status.
        setImmediate(() => {
          if (!this.#stream.closed) this.#stream.close(constants.NGHTTP2_NO_ERROR);
        });
      }
    };
  }

  #explained(status: SentStatus): SentStatus | RefusalStatus {
    const refusal = this.#refusalOfLibrary(status.code);
    if (refusal === undefined) return status;
    // The handler logs the calls that have come to it.
    if (!this.#isPassedOn) this.#state.onRefused(this.#rpc.path, refusal.reason);
    return statusOf(refusal);
  }

  #refusalOfLibrary(code: SentStatus["code"]): AnyRefusal | undefined {
    if (code === Status.RESOURCE_EXHAUSTED) return { reason: "REQUEST_TOO_LARGE", bytesMax: this.#bytesMax };
    if (code === Status.DEADLINE_EXCEEDED) {
      const mayHaveWritten = this.#isPassedOn && this.#state.writes(this.#rpc.path);
      return { reason: mayHaveWritten ? "OUTCOME_UNKNOWN" : "DEADLINE_EXCEEDED" };
    }
    if (code === Status.INTERNAL) return { reason: "MALFORMED_REQUEST", problem: "The message cannot be decoded." };
    return undefined;
  }

  /** Returns whether the request was still arriving. */
  #leaveArriving(): boolean {
    return this.#link !== undefined && this.#state.arriving.remove(this.#link);
  }

  // The guard does not change responses. These overrides skip the inherited methods, which would
  // wrap each step again.
  override sendMetadata(metadata: Parameters<ServerInterceptingCall["sendMetadata"]>[0]): void {
    this.#inner.sendMetadata(metadata);
  }

  override sendMessage(message: unknown, callback: () => void): void {
    // A refused stream has its status already.
    if (!this.#isOver) this.#inner.sendMessage(message, callback);
  }

  override sendStatus(status: SentStatus): void {
    this.#inner.sendStatus(status);
  }
}

/** The handler of a call has given its refusal the id that it logs. */
function withRequestId<Sent extends SentStatus>(status: Sent, headers: IncomingHttpHeaders): Sent & RefusalStatus {
  const metadata = status.metadata ?? new Metadata();
  if (metadata.get(REQUEST_ID).length === 0) metadata.set(REQUEST_ID, requestIdOf(headers[REQUEST_ID]));
  return { ...status, metadata };
}

/** Ends a stream of which grpc-js has made no call. */
function refuseStream(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, refusal: AnyRefusal): void {
  const { code, details, metadata } = withRequestId(statusOf(refusal), headers);
  // A lost connection makes the stream emit an error, which ends the process without a listener.
  stream.once("error", () => undefined);
  stream.respond(
    {
      // A client that does not speak gRPC reads only this status.
      ":status": isGrpc(headers) ? 200 : 415,
      "content-type": "application/grpc+proto",
      "grpc-accept-encoding": "identity,deflate,gzip",
      "grpc-status": code,
      "grpc-message": encodeURI(details),
      ...metadata.toHttp2Headers(),
    },
    { endStream: true },
  );
}
