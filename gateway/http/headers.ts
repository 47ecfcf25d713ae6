import type { IncomingHttpHeaders } from "node:http";

import { Metadata } from "@grpc/grpc-js";

import type { FieldProblem } from "../problems/field-problem.js";

/** What the headers of a request give to the call that answers it. */
export interface CallHeaders {
  readonly metadata: Metadata;
  readonly timeoutMillis: number;
  readonly problems: readonly FieldProblem[];
  /** Whether the problem is with a key itself, so that the server cannot judge it. */
  readonly isKeyUnreadable: boolean;
  /**
   * The key, of a call that may be sent as one with others of the same key; undefined: it goes
   * alone.
   */
  readonly batchKey: string | undefined;
}

/**
 * The only headers that reach the server, in the order of the problems. Clients cannot set any
 * other metadata.
 */
const FORWARDED: readonly {
  readonly name: keyof IncomingHttpHeaders & string;
  /**
   * Of calls that are sent as one, "key" is the same, "item" is each its own, and of the others
   * those of the first go.
   */
  readonly kind: "key" | "item" | "one" | "list";
}[] = [
  { name: "authorization", kind: "key" },
  { name: "x-api-key", kind: "key" },
  { name: "idempotency-key", kind: "item" },
  { name: "traceparent", kind: "one" },
  { name: "tracestate", kind: "list" },
];

/** The metadata that each of many calls sent as one has for itself. */
export const METADATA_OF_EACH: readonly string[] = FORWARDED.filter(({ kind }) => kind === "item").map(
  ({ name }) => name,
);

const TIMEOUT = "grpc-timeout";
const READ: ReadonlySet<string> = new Set([...FORWARDED.map(({ name }) => name), TIMEOUT]);

const VALIDATE_ONLY = "kesc-validate-only";
const METADATA_VALUE = /^[\x20-\x7e]*$/;
const GRPC_TIMEOUT = /^([0-9]{1,8})([HMSmun])$/;
const TIMEOUT_PROBLEM = "must be 1 to 8 digits, more than zero, and one of H, M, S, m, u, n, such as 5S";

const UNIT_MILLIS: Readonly<Record<string, number>> = {
  H: 3_600_000,
  M: 60_000,
  S: 1_000,
  m: 1,
  u: 1e-3,
  n: 1e-6,
};

/**
 * Takes what may be forwarded, and the time that the call may take: what the caller asks for, up to
 * the most. `rawHeaders` are names and values in turn, as they came.
 */
export function readHeaders(rawHeaders: readonly string[], requestId: string, timeoutMillisMax: number): CallHeaders {
  const headers = valuesByName(rawHeaders);
  const metadata = new Metadata();
  const problems: FieldProblem[] = [];
  let isKeyUnreadable = false;
  let isAlone = headers.has(TIMEOUT);
  let key = "";
  for (const { name, kind } of FORWARDED) {
    const values = headers.get(name);
    if (values === undefined) continue;
    const value = values.join(",");
    if (kind === "key") key += `${name}: ${value}\n`;
    // A field that is empty is one that is not there: among others it would not be seen.
    else if (kind === "item" && value === "") isAlone = true;
    const problem =
      values.length > 1 && kind !== "list"
        ? "must be sent once"
        : METADATA_VALUE.test(value)
          ? undefined
          : "must hold printable ASCII characters only";
    if (problem === undefined) metadata.set(name, value);
    else {
      problems.push({ field: name, message: problem });
      isKeyUnreadable ||= kind === "key";
    }
  }
  metadata.set("x-request-id", requestId);

  const timeoutMillis = parseTimeout(headers.get(TIMEOUT));
  if (timeoutMillis === undefined) problems.push({ field: TIMEOUT, message: TIMEOUT_PROBLEM });
  return {
    metadata,
    timeoutMillis: Math.min(timeoutMillis ?? timeoutMillisMax, timeoutMillisMax),
    problems,
    isKeyUnreadable,
    batchKey: isAlone ? undefined : key,
  };
}

/**
 * All values of each header that is read here. (Node's headersDistinct makes a list for every
 * header that came.)
 */
function valuesByName(rawHeaders: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const values = new Map<string, string[]>();
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]?.toLowerCase() ?? "";
    const value = rawHeaders[index + 1] ?? "";
    if (!READ.has(name)) continue;
    const others = values.get(name);
    if (others === undefined) values.set(name, [value]);
    else others.push(value);
  }
  return values;
}

/** Marks a call of which the server checks key, scope and shape, and does nothing. */
export function validateOnly(metadata: Metadata): Metadata {
  const marked = metadata.clone();
  marked.set(VALIDATE_ONLY, "true");
  return marked;
}

/**
 * Milliseconds, at least 1; Infinity when the header is not there; undefined when it is malformed.
 */
function parseTimeout(values: readonly string[] | undefined): number | undefined {
  if (values === undefined) return Infinity;
  const match = values.length === 1 ? GRPC_TIMEOUT.exec(values[0] ?? "") : null;
  const timeoutMillis = Number(match?.[1]) * (UNIT_MILLIS[match?.[2] ?? ""] ?? NaN);
  return timeoutMillis > 0 ? Math.max(1, Math.ceil(timeoutMillis)) : undefined;
}
