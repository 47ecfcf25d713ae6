import { Metadata } from "@grpc/grpc-js";

import type { RequestProblem } from "../../contract/field-problem.js";
import { FORWARDED_METADATA } from "../../contract/forwarded-metadata.js";
import { type TraceParent, traceParentText } from "../../runtime/caller-ids.js";
import { guardMeantBy } from "../../runtime/guard-names.js";
import { FORWARDED } from "../../runtime/transport/forwarded.js";

/** The conditions of RFC 9110; undefined: the request has no such header. */
export interface Preconditions {
  readonly ifMatch: string | undefined;
  readonly ifNoneMatch: string | undefined;
}

/** The part of a call that comes from the headers of its request. */
export interface CallHeaders extends Preconditions {
  readonly metadata: Metadata;
  readonly timeoutMillis: number;
  readonly problems: readonly RequestProblem[];
  /** Whether a key itself has a problem, so that the server cannot check it. */
  readonly isKeyUnreadable: boolean;
  /**
   * The credentials, under which calls may be sent as one batch; undefined: the call is sent alone.
   */
  readonly batchKey: string | undefined;
}

const TIMEOUT = "grpc-timeout";
const IF_MATCH = "if-match";
const IF_NONE_MATCH = "if-none-match";
const READ: ReadonlySet<string> = new Set([
  ...FORWARDED_METADATA.map(({ name }) => name),
  TIMEOUT,
  IF_MATCH,
  IF_NONE_MATCH,
]);

const VALIDATE_ONLY = "kesc-validate-only";
const METADATA_VALUE = /^[\x20-\x7e]*$/;
const GRPC_TIMEOUT = /^([0-9]{1,8})([HMSmun])$/;
const TIMEOUT_PROBLEM = "must be 1 to 8 digits, more than zero, and one of the units H, M, S, m, u and n, such as 5S";

const UNIT_MILLIS: Readonly<Record<string, number>> = {
  H: 3_600_000,
  M: 60_000,
  S: 1_000,
  m: 1,
  u: 1e-3,
  n: 1e-6,
};

/**
 * Makes the call's metadata from the headers on the allow-list, and its timeout from Grpc-Timeout,
 * at most `timeoutMillisMax`. `trace` replaces the client's traceparent. `rawHeaders` holds names
 * and values in turn, as Node received them.
 */
export function readHeaders(
  rawHeaders: readonly string[],
  { requestId, trace }: { readonly requestId: string; readonly trace?: TraceParent | undefined },
  timeoutMillisMax: number,
): CallHeaders {
  const { headers, misspelt } = valuesByName(rawHeaders);
  const metadata = new Metadata();
  const problems: RequestProblem[] = [];
  let isKeyUnreadable = false;
  let isAlone = headers.has(TIMEOUT);
  let key = "";
  for (const { name, kind } of FORWARDED_METADATA) {
    const values = headers.get(name);
    if (values === undefined) continue;
    const value = values.join(",");
    if (kind === "credential") key += `${name}: ${value}\n`;
    // An item cannot carry an empty value: in protobuf an empty field is an unset field.
    else if (kind === "item" && value === "") isAlone = true;
    const problem =
      values.length > 1 && kind !== "list"
        ? { code: "REPEATED", message: "must be sent only once" }
        : METADATA_VALUE.test(value)
          ? undefined
          : { code: "FORMAT", message: "must be printable ASCII characters" };
    if (problem === undefined) metadata.set(name, value);
    else {
      problems.push({ field: name, ...problem });
      isKeyUnreadable ||= kind === "credential";
    }
  }
  for (const name of misspelt) {
    problems.push({ field: name, code: "UNKNOWN_FIELD", message: `is not read: send ${String(guardMeantBy(name))}` });
  }
  metadata.set("x-request-id", requestId);
  metadata.set(FORWARDED, "true");
  if (trace !== undefined) metadata.set("traceparent", traceParentText(trace));

  const timeoutMillis = parseTimeout(headers.get(TIMEOUT));
  if (timeoutMillis === undefined) problems.push({ field: TIMEOUT, code: "FORMAT", message: TIMEOUT_PROBLEM });
  return {
    metadata,
    timeoutMillis: Math.min(timeoutMillis ?? timeoutMillisMax, timeoutMillisMax),
    problems,
    isKeyUnreadable,
    batchKey: isAlone ? undefined : key,
    ifMatch: headers.get(IF_MATCH)?.join(",").trim(),
    ifNoneMatch: headers.get(IF_NONE_MATCH)?.join(","),
  };
}

/**
 * Returns all values of each header that the gateway reads, and the names that mean a guard which
 * it reads under another name. Node's headersDistinct would make a list for every header. One of
 * four changes that cut a request's processor time by 10 % (docs/performance.md).
 */
function valuesByName(rawHeaders: readonly string[]): {
  readonly headers: ReadonlyMap<string, readonly string[]>;
  readonly misspelt: ReadonlySet<string>;
} {
  const values = new Map<string, string[]>();
  const misspelt = new Set<string>();
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]?.toLowerCase() ?? "";
    const value = rawHeaders[index + 1] ?? "";
    if (!READ.has(name)) {
      if (guardMeantBy(name) !== undefined) misspelt.add(name);
      continue;
    }
    const others = values.get(name);
    if (others === undefined) values.set(name, [value]);
    else others.push(value);
  }
  return { headers: values, misspelt };
}

/** Marks a call of which the server must only check key, scope and shape (docs/architecture.md). */
export function validateOnly(metadata: Metadata): Metadata {
  const marked = metadata.clone();
  marked.set(VALIDATE_ONLY, "true");
  return marked;
}

/** Returns at least 1; Infinity without the header; undefined when the header is malformed. */
function parseTimeout(values: readonly string[] | undefined): number | undefined {
  if (values === undefined) return Infinity;
  const match = values.length === 1 ? GRPC_TIMEOUT.exec(values[0] ?? "") : null;
  const timeoutMillis = Number(match?.[1]) * (UNIT_MILLIS[match?.[2] ?? ""] ?? NaN);
  return timeoutMillis > 0 ? Math.max(1, Math.ceil(timeoutMillis)) : undefined;
}
