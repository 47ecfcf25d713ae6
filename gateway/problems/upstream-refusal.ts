import { type DescMessage, type FileRegistry, fromBinary } from "@bufbuild/protobuf";
import { status } from "@grpc/grpc-js";

import { messageOf } from "../contract/contract.js";
import type { UpstreamFailure } from "../contract/rpc.js";
import type { FieldProblem } from "./field-problem.js";
import {
  internalProblem,
  invalidFieldsDetail,
  type Problem,
  problemMembers,
  queueFull,
  RETRY_AFTER_SECONDS_MIN,
} from "./problem.js";

/** A google.rpc.Status with the details that the gateway understands. */
export interface Refusal {
  readonly grpcCode: status;
  readonly text: string;
  /** Undefined when the error comes from the connection and not from the server's own code. */
  readonly info: { readonly reason: string; readonly facts: ReadonlyMap<string, string> } | undefined;
  readonly errors: readonly FieldProblem[];
  readonly retryAfterSeconds: number | undefined;
}

// The members of google.rpc's messages that the gateway reads.
interface ErrorInfo {
  readonly reason: string;
  readonly metadata: Readonly<Record<string, string>>;
}
interface BadRequest {
  readonly fieldViolations: readonly { readonly field: string; readonly description: string }[];
}
interface RetryInfo {
  readonly retryDelay?: { readonly seconds: bigint; readonly nanos: number };
}

/** The only table from gRPC codes to HTTP statuses. */
const HTTP_STATUS: Readonly<Record<status, number>> = {
  [status.OK]: 200,
  [status.CANCELLED]: 499,
  [status.UNKNOWN]: 500,
  [status.INVALID_ARGUMENT]: 400,
  [status.DEADLINE_EXCEEDED]: 504,
  [status.NOT_FOUND]: 404,
  [status.ALREADY_EXISTS]: 409,
  [status.PERMISSION_DENIED]: 403,
  [status.RESOURCE_EXHAUSTED]: 429,
  [status.FAILED_PRECONDITION]: 422,
  [status.ABORTED]: 409,
  [status.OUT_OF_RANGE]: 400,
  [status.UNIMPLEMENTED]: 501,
  [status.INTERNAL]: 500,
  [status.UNAVAILABLE]: 503,
  [status.DATA_LOSS]: 500,
  [status.UNAUTHENTICATED]: 401,
};

/** Reads the refusal of a call, or of one item in the response to a batch. */
export type ReadRefusal = (failure: Pick<UpstreamFailure, "status" | "headerByField">) => Refusal;

/** Makes the reader from the contract's own google.rpc messages. */
export function refusalReader(registry: FileRegistry): ReadRefusal {
  const [errorInfo, badRequest, retryInfo] = ["ErrorInfo", "BadRequest", "RetryInfo"].map((name) =>
    messageOf(registry, `google.rpc.${name}`),
  ) as [DescMessage, DescMessage, DescMessage];

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
      info: info && { reason: info.reason, facts: new Map(Object.entries(info.metadata)) },
      errors: violations.map(({ field, description }) => ({
        field: headerByField?.get(field) ?? field,
        message: description,
      })),
      retryAfterSeconds: delay && Math.ceil(Number(delay.seconds) + delay.nanos / 1e9),
    };
  };
}

/** Returns the problem that REST shows for the refusal. */
export function problemOf(refusal: Refusal): Problem {
  const httpStatus = HTTP_STATUS[refusal.grpcCode];
  if (refusal.info === undefined) return transportProblem(refusal.grpcCode);
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
export function itemProblemJson(refusal: Refusal): string {
  const problem = problemOf(refusal);
  const more = new Map<string, string>();
  const requestId = refusal.info?.facts.get("request_id");
  if (requestId !== undefined) more.set("request_id", JSON.stringify(requestId));
  const retryAfter = problem.headers?.["Retry-After"];
  if (retryAfter !== undefined) more.set("retry_after", retryAfter);
  return problemMembers(problem, more);
}

/**
 * Returns the problem for an error without a reason. It comes from the connection, or from a server
 * that does not keep the contract.
 */
function transportProblem(grpcCode: status): Problem {
  if (grpcCode === status.UNAVAILABLE) {
    return {
      status: HTTP_STATUS[grpcCode],
      code: "SERVER_UNREACHABLE",
      detail: "The server is unreachable. It may have processed the request; sending the request again is safe.",
      headers: { "Retry-After": String(RETRY_AFTER_SECONDS_MIN) },
    };
  }
  // The server refuses a call so when the connection holds too many calls.
  if (grpcCode === status.RESOURCE_EXHAUSTED) return queueFull();
  if (grpcCode === status.DEADLINE_EXCEEDED) {
    return {
      status: HTTP_STATUS[grpcCode],
      code: "OUTCOME_UNKNOWN",
      detail:
        "The server did not respond before the deadline. It may have processed the request; " +
        "sending the request again is safe.",
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
