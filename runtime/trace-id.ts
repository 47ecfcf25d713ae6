// The header of W3C Trace Context: version, trace id, parent id, flags. A later version may have
// more parts.
const TRACEPARENT = /^(?:00-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}|(?!00|ff)[0-9a-f]{2}-([0-9a-f]{32})-.*)$/;
const NO_TRACE_ID = "0".repeat(32);

/** Returns the trace id of a `traceparent`; undefined if there is none, or if it is malformed. */
export function traceIdOf(sent: unknown): string | undefined {
  if (typeof sent !== "string") return undefined;
  const [, ofThisVersion, ofLaterVersion] = TRACEPARENT.exec(sent) ?? [];
  const traceId = ofThisVersion ?? ofLaterVersion;
  return traceId === NO_TRACE_ID ? undefined : traceId;
}
