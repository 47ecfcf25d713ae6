import { randomUUID } from "node:crypto";

const REQUEST_ID = /^[A-Za-z0-9._:-]{1,128}$/;

/** Returns the caller's own request id if it is safe to log, and a new one otherwise. */
export function requestIdOf(sent: unknown): string {
  return typeof sent === "string" && REQUEST_ID.test(sent) ? sent : randomUUID();
}

// The header of W3C Trace Context: version, trace id, parent id, flags. A later version may have
// more parts.
const TRACEPARENT =
  /^(?:00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})|(?!00|ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?)$/;
const NO_TRACE_ID = "0".repeat(32);
const NO_SPAN_ID = "0".repeat(16);
const SAMPLED = 1;

/** The place of a caller in its trace. */
export interface TraceParent {
  readonly traceId: string;
  readonly spanId: string;
  /** Whether the caller records its part of the trace. */
  readonly isSampled: boolean;
}

/** Parses a `traceparent`. Returns undefined if there is none, or if it is malformed. */
export function traceParentOf(sent: unknown): TraceParent | undefined {
  if (typeof sent !== "string") return undefined;
  const match = TRACEPARENT.exec(sent);
  if (match === null) return undefined;
  const [, traceId = match[4] ?? "", spanId = match[5] ?? "", flags = match[6] ?? ""] = match;
  if (traceId === NO_TRACE_ID || spanId === NO_SPAN_ID) return undefined;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & SAMPLED) === SAMPLED };
}

/** Returns the trace id of a `traceparent`; undefined if there is none, or if it is malformed. */
export function traceIdOf(sent: unknown): string | undefined {
  return traceParentOf(sent)?.traceId;
}

/** Writes a `traceparent`. */
export function traceParentText({ traceId, spanId, isSampled }: TraceParent): string {
  return `00-${traceId}-${spanId}-${isSampled ? "01" : "00"}`;
}
