import type { FieldProblem } from "./field-problem.js";

/** What went wrong, before it is written as application/problem+json (RFC 9457). */
export interface Problem {
  readonly status: number;
  /** For programs: upper-case words joined by underscores. */
  readonly code: string;
  /** For people. */
  readonly detail: string;
  /**
   * Further members, such as what was available. They never replace a member of the problem itself.
   */
  readonly facts?: ReadonlyMap<string, string>;
  readonly errors?: readonly FieldProblem[];
  readonly headers?: Readonly<Record<string, string>>;
}

/** Come back at once: whatever it is passes quickly. */
export const RETRY_AFTER_SECONDS_MIN = 1;

// A body of nothing but bad fields must not make an answer that is larger than itself.
const FIELD_PROBLEMS_MAX = 100;

/** The gateway's own words for bad fields, one after the other, each field at most once. */
export function invalidFields(errors: readonly FieldProblem[]): Problem {
  const first = new Map<string, FieldProblem>();
  for (const error of errors) if (!first.has(error.field)) first.set(error.field, error);
  const shown = [...first.values()].slice(0, FIELD_PROBLEMS_MAX);
  return { status: 400, code: "INVALID_FIELD", detail: invalidFieldsDetail(shown), errors: shown };
}

/**
 * Composes the detail of a problem from its bad fields. The server's own text is not used: it names
 * the fields of a batch's item, where the client may have sent headers.
 */
export function invalidFieldsDetail(errors: readonly FieldProblem[]): string {
  return `Invalid request: ${errors.map(({ field, message }) => `${field} ${message}`).join("; ")}`;
}

export function malformedBody(detail: string): Problem {
  return { status: 400, code: "MALFORMED_BODY", detail };
}

export function unsupportedMediaType(detail: string): Problem {
  return { status: 415, code: "UNSUPPORTED_MEDIA_TYPE", detail };
}

export function bodyTooLarge(bytesMax: number): Problem {
  return { status: 413, code: "BODY_TOO_LARGE", detail: `The body must be at most ${String(bytesMax)} bytes.` };
}

/** Nothing of the request was done. */
export function queueFull(): Problem {
  const detail = "Too many requests wait already; nothing was done, try again.";
  return { status: 429, code: "QUEUE_FULL", detail, headers: { "Retry-After": String(RETRY_AFTER_SECONDS_MIN) } };
}

export function noSuchRoute(): Problem {
  return { status: 404, code: "NO_SUCH_ROUTE", detail: "There is nothing at this path." };
}

export function methodNotAllowed(allow: string): Problem {
  const detail = `This path answers ${allow} only.`;
  return { status: 405, code: "METHOD_NOT_ALLOWED", detail, headers: { Allow: allow } };
}

export function notReady(detail: string): Problem {
  const headers = { "Retry-After": String(RETRY_AFTER_SECONDS_MIN) };
  return { status: 503, code: "NOT_READY", detail, headers };
}

/** Fixed words: nothing from inside gets out. */
export function internalProblem(): Problem {
  return {
    status: 500,
    code: "INTERNAL",
    detail: "Something went wrong inside. Whoever operates this service finds it in the log by the request_id.",
  };
}

// An amount of money, which has one shape in all JSON: a number with two fraction digits.
const MONEY = /^(?:0|[1-9][0-9]*)\.[0-9]{2}$/;

/**
 * Writes the problem as application/problem+json. `type` is stable and relative to wherever the API
 * is.
 */
export function problemJson(problem: Problem, requestId: string): string {
  return problemMembers(problem, new Map([["request_id", JSON.stringify(requestId)]]));
}

/**
 * Writes the problem's members; `more`, already JSON, comes before the facts, which never replace a
 * member.
 */
export function problemMembers(problem: Problem, more: ReadonlyMap<string, string>): string {
  const members = new Map<string, string>([
    ["type", JSON.stringify(`/errors/${problem.code.toLowerCase().replaceAll("_", "-")}`)],
    ["title", JSON.stringify(titleOf(problem.code))],
    ["status", String(problem.status)],
    ["detail", JSON.stringify(problem.detail)],
    ["code", JSON.stringify(problem.code)],
    ...more,
  ]);
  for (const [name, fact] of problem.facts ?? []) {
    if (name !== "errors" && !members.has(name)) members.set(name, MONEY.test(fact) ? fact : JSON.stringify(fact));
  }
  if (problem.errors !== undefined) members.set("errors", JSON.stringify(problem.errors));
  return `{${Array.from(members, ([name, json]) => `${JSON.stringify(name)}:${json}`).join(",")}}`;
}

/** INSUFFICIENT_FUNDS is "Insufficient funds". */
function titleOf(code: string): string {
  return code.charAt(0).toUpperCase() + code.slice(1).toLowerCase().replaceAll("_", " ");
}
