import type { RequestProblem } from "../../contract/field-problem.js";
import { OWN_REASONS } from "./reasons.js";

/** The facts of a problem, by name. The values are JSON already. */
export type JsonFacts = ReadonlyMap<string, string>;

/** An error response, before it is written as application/problem+json (RFC 9457). */
export interface Problem {
  readonly status: number;
  /** For programs: upper-case words joined by underscores. */
  readonly code: string;
  /** For people. */
  readonly detail: string;
  /** Further members, such as `available`. They never replace a member of the problem itself. */
  readonly facts?: JsonFacts;
  readonly errors?: readonly RequestProblem[];
  readonly headers?: Readonly<Record<string, string>>;
}

export const RETRY_AFTER_SECONDS_MIN = 1;

// Limits the size of the response to a body that has nothing but bad fields.
const FIELD_PROBLEMS_MAX = 100;

/** Keeps the first problem of each field. */
export function invalidFields(errors: readonly RequestProblem[]): Problem {
  const first = new Map<string, RequestProblem>();
  for (const error of errors) if (!first.has(error.field)) first.set(error.field, error);
  const shown = [...first.values()].slice(0, FIELD_PROBLEMS_MAX);
  return { status: 400, code: "INVALID_FIELD", detail: invalidFieldsDetail(shown), errors: shown };
}

/**
 * Composes the detail of a problem from its bad fields. The server's own sentence is not used: it
 * may name a field of a batch's item for which the client sent a header (ADR 14).
 */
export function invalidFieldsDetail(errors: readonly RequestProblem[]): string {
  return `Invalid request: ${errors.map(({ field, message }) => `${field} ${message}`).join("; ")}.`;
}

export function malformedBody(detail: string): Problem {
  return { ...ownReason("MALFORMED_BODY"), detail };
}

export function unsupportedMediaType(detail: string): Problem {
  return { ...ownReason("UNSUPPORTED_MEDIA_TYPE"), detail };
}

export function bodyTooLarge(bytesMax: number): Problem {
  return { ...ownReason("BODY_TOO_LARGE"), detail: `The body must have at most ${String(bytesMax)} bytes.` };
}

export function queueFull(): Problem {
  const detail = "Too many requests are waiting. Nothing was done. Send the request again later.";
  return { status: 429, code: "QUEUE_FULL", detail, headers: { "Retry-After": String(RETRY_AFTER_SECONDS_MIN) } };
}

/** The reason of the contract for a stream beyond the caller's share. */
export function tooManyStreams(streamsMax: number): Problem {
  return {
    status: 429,
    code: "TOO_MANY_STREAMS",
    detail: "Too many streams are open. Close one, or open this one later.",
    facts: new Map([["streams_max", String(streamsMax)]]),
    headers: { "Retry-After": String(RETRY_AFTER_SECONDS_MIN) },
  };
}

/** The reason of the contract for a stream that ends because the client's time for it is over. */
export function streamDeadline(): Problem {
  const detail = "The time of Grpc-Timeout is over. Go on where the stream ended.";
  return { status: 504, code: "DEADLINE_EXCEEDED", detail };
}

/** `types` are the media types that the path serves. */
export function notAcceptable(types: readonly string[]): Problem {
  return { ...ownReason("NOT_ACCEPTABLE"), detail: `This path serves only the types ${types.join(", ")}.` };
}

export function httpVersionTooOld(): Problem {
  const detail = "A stream that ends needs HTTP/1.1: over HTTP/1.0 a body that was cut off looks whole.";
  return {
    ...ownReason("HTTP_VERSION_TOO_OLD"),
    detail,
    headers: { Upgrade: "HTTP/1.1", Connection: "Upgrade, close" },
  };
}

export function noSuchRoute(): Problem {
  const detail = "The path is unknown. Letter case counts, and so does a slash at the end. See /docs/guides/api.";
  return { ...ownReason("NO_SUCH_ROUTE"), detail };
}

/** `allow` lists the methods of the path, and is empty if there is none. */
export function methodNotAllowed(allow: string): Problem {
  const detail = `This path does not support the method of the request. It supports ${allow === "" ? "none" : allow}.`;
  return { ...ownReason("METHOD_NOT_ALLOWED"), detail, headers: { Allow: allow } };
}

/** The reason of the contract for a request that breaks the rules of HTTP/1.1. */
export function malformedRequest(detail: string): Problem {
  return { status: 400, code: "MALFORMED_REQUEST", detail };
}

export function expectationFailed(): Problem {
  return { ...ownReason("EXPECTATION_FAILED"), detail: "The header Expect must be 100-continue." };
}

export function shuttingDown(): Problem {
  const detail = "The gateway is shutting down. Nothing was done. Send the request again.";
  const headers = { "Retry-After": String(RETRY_AFTER_SECONDS_MIN), Connection: "close" };
  return { status: 503, code: "SHUTTING_DOWN", detail, headers };
}

export function notReady(detail: string): Problem {
  const headers = { "Retry-After": String(RETRY_AFTER_SECONDS_MIN) };
  return { ...ownReason("NOT_READY"), detail, headers };
}

/**
 * The detail is fixed: the text of an internal error may contain data that the client must not see.
 */
export function internalProblem(): Problem {
  return {
    status: 500,
    code: "INTERNAL",
    detail: "An internal error occurred. The operator finds its cause in the log by the request id.",
  };
}

/** Writes the body of an application/problem+json response. */
export function problemJson(problem: Problem, requestId: string, publicUrl = ""): string {
  return problemMembers(problem, new Map([["request_id", JSON.stringify(requestId)]]), publicUrl);
}

/** Returns the code and the status of a reason that only the gateway has. */
export function ownReason(code: keyof typeof OWN_REASONS): Pick<Problem, "status" | "code"> {
  return { status: OWN_REASONS[code].httpStatus, code };
}

/**
 * Writes the members of the problem as one JSON object. `more` holds further members whose values
 * are JSON already. `type` begins with `publicUrl`. It is a path where nobody has set that.
 */
export function problemMembers(problem: Problem, more: ReadonlyMap<string, string>, publicUrl = ""): string {
  const members = new Map<string, string>([
    ["type", JSON.stringify(publicUrl + errorPathOf(problem.code))],
    ["title", JSON.stringify(titleOf(problem.code))],
    ["status", String(problem.status)],
    ["detail", JSON.stringify(problem.detail)],
    ["code", JSON.stringify(problem.code)],
    ...more,
  ]);
  for (const [name, fact] of problem.facts ?? []) {
    if (name !== "errors" && !members.has(name)) members.set(name, fact);
  }
  if (problem.errors !== undefined) members.set("errors", JSON.stringify(problem.errors));
  return `{${Array.from(members, ([name, json]) => `${JSON.stringify(name)}:${json}`).join(",")}}`;
}

/** Returns the path of the page about a reason: "/errors/insufficient-funds". */
export function errorPathOf(code: string): string {
  return `/errors/${code.toLowerCase().replaceAll("_", "-")}`;
}

const WORDS: Readonly<Record<string, string>> = { API: "API", HTTP: "HTTP", RPC: "RPC", ETAG: "ETag" };

/** INSUFFICIENT_FUNDS becomes "Insufficient funds", and MISSING_API_KEY "Missing API key". */
export function titleOf(code: string): string {
  const text = code
    .split("_")
    .map((word) => WORDS[word] ?? word.toLowerCase())
    .join(" ");
  return text.charAt(0).toUpperCase() + text.slice(1);
}
