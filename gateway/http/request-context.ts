import type { IncomingMessage, ServerResponse } from "node:http";

import { requestIdOf, traceIdOf, type TraceParent } from "../../runtime/caller-ids.js";
import type { CallSpan, Tracing } from "../../runtime/tracing/tracing.js";
import type { Problem } from "../problems/problem.js";
import type { RawBodyResult } from "./request-body.js";

/** What a request's context is made of, besides the request. */
export interface ContextOptions {
  readonly tracing?: Pick<Tracing, "begin" | "unrecorded"> | undefined;
  /** What clients put before each path. */
  readonly publicUrl?: string | undefined;
}

/** The state of one request from its first line to the end of its response. */
export interface RequestContext {
  readonly requestId: string;
  /** The trace id of the client's traceparent, or of the gateway's own trace. */
  readonly traceId: string | undefined;
  /** What clients put before each path. */
  readonly publicUrl: string;
  /** Undefined: the request is not recorded. */
  readonly span: CallSpan | undefined;
  /** Goes to the server in place of the client's traceparent; undefined: that one goes. */
  readonly trace: TraceParent | undefined;
  readonly startedAt: number;
  /** The path with field names in place of values; undefined until a route matches. */
  route: string | undefined;
  /** "OK", or the code of the problem; undefined until the response is sent. */
  code: string | undefined;
  /** The batch's request id, when the call was sent as an item of a batch. */
  batchId: string | undefined;
  /** RateLimit-Policy and RateLimit, names and values in turn, once a call was counted. */
  rateLimitHeaders: readonly string[];
  /**
   * Called when the response is closed, complete or not. One list with one listener of the response
   * replaces a listener each: one of four changes that cut a request's processor time by 10 %
   * (docs/performance.md).
   */
  readonly onClosed: (() => void)[];
  /**
   * Gives back the request's place among those in flight, before its response is closed. A stream
   * has a place of its own.
   */
  leaveRequests: () => void;
  /** The items that a stream has sent; undefined: the response is no stream. */
  items: number | undefined;
  /** Why the response was cut off; undefined: it was not, or the client did it. */
  cutOff: Pick<Problem, "status" | "code"> | undefined;
  /** The body of a request without a key, which is read before it has a slot. */
  rawBody: RawBodyResult | undefined;
  /** Resolves when it is the caller's turn to use the event loop for this number of bytes. */
  turnFor: (bytes: number) => Promise<void>;
}

// A property of the response, because an old WeakMap keeps its values alive through every small
// garbage collection. The measures of ADR 15 together cut the survivors from 42 to 4 %.
const CONTEXT = Symbol("context");
type WithContext = ServerResponse & { [CONTEXT]?: RequestContext };

/**
 * Makes the context of a request. Keeps the client's X-Request-Id when it is sane; otherwise makes
 * a new id.
 */
export function beginRequest(
  req: IncomingMessage,
  res: ServerResponse,
  { tracing, publicUrl = "" }: ContextOptions = {},
): RequestContext {
  const traceparent = req.headers["traceparent"];
  const sent = traceIdOf(traceparent);
  const span = tracing?.begin("request", traceparent);
  const trace = span?.parent ?? (sent === undefined ? tracing?.unrecorded() : undefined);
  const context: RequestContext = {
    // Node joins repeated headers with a comma, and such a text is not a valid id.
    requestId: requestIdOf(req.headers["x-request-id"]),
    publicUrl,
    traceId: trace?.traceId ?? sent,
    span,
    trace,
    startedAt: performance.now(),
    route: undefined,
    code: undefined,
    batchId: undefined,
    rateLimitHeaders: [],
    onClosed: [],
    leaveRequests: () => undefined,
    items: undefined,
    cutOff: undefined,
    rawBody: undefined,
    turnFor: () => Promise.resolve(),
  };
  (res as WithContext)[CONTEXT] = context;
  res.once("close", () => {
    for (const listener of context.onClosed) listener();
  });
  return context;
}

/** Returns the context that `beginRequest` made. Throws when there is none: a bug. */
export function contextOf(res: ServerResponse): RequestContext {
  const context = (res as WithContext)[CONTEXT];
  if (context === undefined) throw new Error("the request has no context");
  return context;
}
