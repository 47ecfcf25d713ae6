import { type DescMessage, type FileRegistry, fromBinary, getOption } from "@bufbuild/protobuf";
import { status } from "@grpc/grpc-js";

import { extensionOf, messageOf } from "../../contract/contract.js";
import type { RequestProblem } from "../../contract/field-problem.js";
import type { UpstreamFailure } from "../../contract/rpc.js";
import {
  internalProblem,
  invalidFieldsDetail,
  type JsonFacts,
  ownReason,
  type Problem,
  problemMembers,
  queueFull,
  RETRY_AFTER_SECONDS_MIN,
} from "./problem.js";
import { errorReasonOf, HTTP_STATUS } from "./reasons.js";

/** A google.rpc.Status with the details that the gateway understands. */
export interface Refusal {
  readonly grpcCode: status;
  readonly text: string;
  /** Undefined when the error comes from the connection and not from the server's own code. */
  readonly info: { readonly reason: string; readonly facts: JsonFacts } | undefined;
  readonly errors: readonly RequestProblem[];
  readonly retryAfterSeconds: number | undefined;
}

// The members of google.rpc's messages that the gateway reads.
interface ErrorInfo {
  readonly reason: string;
  readonly metadata: Readonly<Record<string, string>>;
}
interface BadRequest {
  readonly fieldViolations: readonly {
    readonly field: string;
    readonly description: string;
    readonly reason: string;
  }[];
}
interface RetryInfo {
  readonly retryDelay?: { readonly seconds: bigint; readonly nanos: number };
}

/** Reads the refusal of a call, or of one item in the response to a batch. */
export type ReadRefusal = (failure: Pick<UpstreamFailure, "status" | "headerByField">) => Refusal;

/** Makes the reader from the contract's own google.rpc messages. */
export function refusalReader(registry: FileRegistry): ReadRefusal {
  const [errorInfo, badRequest, retryInfo] = ["ErrorInfo", "BadRequest", "RetryInfo"].map((name) =>
    messageOf(registry, `google.rpc.${name}`),
  ) as [DescMessage, DescMessage, DescMessage];
  const toJsonFacts = factsReader(registry);

  return ({ status: { code, message, details }, headerByField }) => {
    const find = (desc: DescMessage): unknown => {
      const detail = details.find(({ typeUrl }) => typeUrl.endsWith(`/${desc.typeName}`));
      return detail && fromBinary(desc, detail.value);
    };
    const info = find(errorInfo) as ErrorInfo | undefined;
    const violations = (find(badRequest) as BadRequest | undefined)?.fieldViolations ?? [];
    const delay = (find(retryInfo) as RetryInfo | undefined)?.retryDelay;
    return {
      grpcCode: code,
      text: message,
      info: info && { reason: info.reason, facts: toJsonFacts(info.metadata) },
      errors: violations.map(({ field, description, reason }) => ({
        field: headerByField?.get(field) ?? field,
        code: reason,
        message: description,
      })),
      retryAfterSeconds: delay && Math.ceil(Number(delay.seconds) + delay.nanos / 1e9),
    };
  };
}

const NUMBER = /^(?:0|[1-9][0-9]*)(?:\.[0-9]+)?$/;

/**
 * Makes the function that writes facts as JSON. ErrorInfo holds texts only. The contract says which
 * of them are lists, joined by commas, and which are numbers.
 */
function factsReader(registry: FileRegistry): (metadata: Readonly<Record<string, string>>) => JsonFacts {
  const desc = errorReasonOf(registry);
  const namesIn = (option: string): ReadonlySet<string> =>
    new Set(getOption(desc, extensionOf(registry, option)) as readonly string[]);
  const lists = namesIn("kesc.v1.list_facts");
  const numbers = namesIn("kesc.v1.number_facts");
  const jsonOf = (name: string, text: string): string => {
    if (lists.has(name)) return JSON.stringify(text.split(","));
    return numbers.has(name) && NUMBER.test(text) ? text : JSON.stringify(text);
  };
  return (metadata) => new Map(Object.entries(metadata).map(([name, text]) => [name, jsonOf(name, text)]));
}

/** Returns the problem that REST shows for the refusal. A call that may write may have done so. */
export function problemOf(refusal: Refusal, mayWrite = true): Problem {
  const httpStatus = HTTP_STATUS[refusal.grpcCode];
  if (refusal.info === undefined) return transportProblem(refusal.grpcCode, mayWrite);
  if (httpStatus === 500) return internalProblem();
  return {
    status: httpStatus,
    code: refusal.info.reason,
    detail: refusal.errors.length > 0 ? invalidFieldsDetail(refusal.errors) : refusal.text,
    facts: refusal.info.facts,
    ...(refusal.errors.length > 0 ? { errors: refusal.errors } : {}),
    headers: headersOf(refusal),
  };
}

/**
 * Writes the refusal of one item of a batch as the members of a problem. An item has no headers, so
 * the member `retry_after` replaces Retry-After, in seconds.
 */
export function itemProblemJson(refusal: Refusal, publicUrl = ""): string {
  const problem = problemOf(refusal);
  const more = new Map<string, string>();
  const requestId = refusal.info?.facts.get("request_id");
  if (requestId !== undefined) more.set("request_id", requestId);
  const retryAfter = problem.headers?.["Retry-After"];
  if (retryAfter !== undefined) more.set("retry_after", retryAfter);
  return problemMembers(problem, more, publicUrl);
}

const ABOUT_READS = "Send the same request again.";
const MAY_BE_DONE = "It may have processed the request. Send the same request again: repeating it is safe.";

/**
 * Returns the problem for an error without a reason. It comes from the connection, or from a server
 * that does not keep the contract.
 */
function transportProblem(grpcCode: status, mayWrite: boolean): Problem {
  const advice = mayWrite ? MAY_BE_DONE : ABOUT_READS;
  if (grpcCode === status.UNAVAILABLE) {
    return {
      ...ownReason("SERVER_UNREACHABLE"),
      detail: `The server is unreachable. ${advice}`,
      headers: { "Retry-After": String(RETRY_AFTER_SECONDS_MIN) },
    };
  }
  // The server refuses a call so when the connection holds too many calls.
  if (grpcCode === status.RESOURCE_EXHAUSTED) return queueFull();
  if (grpcCode === status.DEADLINE_EXCEEDED) {
    return {
      status: HTTP_STATUS[grpcCode],
      code: mayWrite ? "OUTCOME_UNKNOWN" : "DEADLINE_EXCEEDED",
      detail: `The server did not respond before the deadline. ${advice}`,
    };
  }
  return internalProblem();
}

function headersOf(refusal: Refusal): Record<string, string> {
  const headers: Record<string, string> = {};
  // The value is fixed. The error's text belongs in the body.
  if (refusal.grpcCode === status.UNAUTHENTICATED) headers["WWW-Authenticate"] = 'Bearer realm="kesc"';
  if (refusal.retryAfterSeconds !== undefined) {
    headers["Retry-After"] = String(Math.max(refusal.retryAfterSeconds, RETRY_AFTER_SECONDS_MIN));
  }
  return headers;
}
