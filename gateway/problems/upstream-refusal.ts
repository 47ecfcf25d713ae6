import { type DescMessage, type FileRegistry, fromBinary, type Message } from "@bufbuild/protobuf";
import { status } from "@grpc/grpc-js";

import { messageOf } from "../contract/contract.js";
import type { Refused } from "../contract/outcome.js";
import type { FieldProblem } from "./field-problem.js";
import {
  internalProblem,
  invalidFieldsDetail,
  type Problem,
  problemMembers,
  queueFull,
  RETRY_AFTER_SECONDS_MIN,
} from "./problem.js";

/** A refused call in the words of google.rpc: what of its details the gateway understands. */
export interface Refusal {
  readonly grpcCode: status;
  readonly text: string;
  /**
   * The reason and the facts; undefined when the refusal is not the server's own but the
   * transport's.
   */
  readonly info: { readonly reason: string; readonly facts: ReadonlyMap<string, string> } | undefined;
  readonly errors: readonly FieldProblem[];
  readonly retryAfterSeconds: number | undefined;
}

// The messages of google.rpc, as far as they are read here.
interface RpcStatus {
  readonly code: status;
  readonly message: string;
  readonly details: readonly { readonly typeUrl: string; readonly value: Uint8Array }[];
}
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

/** The one table from gRPC to HTTP. */
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

/** Reads refusals: of a whole call, and of a part of an answer. */
export interface RefusalReaders {
  readonly ofCall: (refused: Refused) => Refusal;
  /** Takes a google.rpc.Status. */
  readonly ofMessage: (message: Message) => Refusal;
}

/** Makes the readers of refusals out of the contract's own google.rpc messages. */
export function refusalReaders(registry: FileRegistry): RefusalReaders {
  const [statusDesc, errorInfo, badRequest, retryInfo] = ["Status", "ErrorInfo", "BadRequest", "RetryInfo"].map(
    (name) => messageOf(registry, `google.rpc.${name}`),
  ) as [DescMessage, DescMessage, DescMessage, DescMessage];

  const read = (code: status, text: string, { details }: Pick<RpcStatus, "details">): Refusal => {
    const find = (desc: DescMessage): unknown => {
      const detail = details.find(({ typeUrl }) => typeUrl.endsWith(`/${desc.typeName}`));
      return detail && fromBinary(desc, detail.value);
    };
    const info = find(errorInfo) as ErrorInfo | undefined;
    const violations = (find(badRequest) as BadRequest | undefined)?.fieldViolations ?? [];
    const delay = (find(retryInfo) as RetryInfo | undefined)?.retryDelay;
    return {
      grpcCode: code,
      text,
      info: info && { reason: info.reason, facts: new Map(Object.entries(info.metadata)) },
      errors: violations.map(({ field, description }) => ({ field, message: description })),
      retryAfterSeconds: delay && Math.ceil(Number(delay.seconds) + delay.nanos / 1e9),
    };
  };
  return {
    ofCall: ({ code, text, statusBytes = new Uint8Array(), headerByField }) => {
      const refusal = read(code, text, fromBinary(statusDesc, statusBytes) as unknown as RpcStatus);
      const errors = refusal.errors.map(({ field, message }) => ({
        field: headerByField?.get(field) ?? field,
        message,
      }));
      return { ...refusal, errors };
    },
    ofMessage: (message) => {
      const { code, message: text, details } = message as unknown as RpcStatus;
      return read(code, text, { details });
    },
  };
}

/** The problem that a refusal is in REST. */
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
 * A refusal inside an answer, in the members of the problem that the same refusal of a whole call
 * is. When to come back, for which a whole answer has a header, is the member `retry_after`, in
 * seconds.
 */
export function problemMemberJson(refusal: Refusal): string {
  const problem = problemOf(refusal);
  const more = new Map<string, string>();
  const requestId = refusal.info?.facts.get("request_id");
  if (requestId !== undefined) more.set("request_id", JSON.stringify(requestId));
  const retryAfter = problem.headers?.["Retry-After"];
  if (retryAfter !== undefined) more.set("retry_after", retryAfter);
  return problemMembers(problem, more);
}

/**
 * A refusal that carries no reason comes from the connection, or from a server that does not keep
 * the contract.
 */
function transportProblem(grpcCode: status): Problem {
  if (grpcCode === status.UNAVAILABLE) {
    return {
      status: HTTP_STATUS[grpcCode],
      code: "SERVER_UNREACHABLE",
      detail: "The server cannot be reached. Whether it took the request is not known; repeating it is safe.",
      headers: { "Retry-After": String(RETRY_AFTER_SECONDS_MIN) },
    };
  }
  // What a server says to a connection that holds too much already.
  if (grpcCode === status.RESOURCE_EXHAUSTED) return queueFull();
  if (grpcCode === status.DEADLINE_EXCEEDED) {
    return {
      status: HTTP_STATUS[grpcCode],
      code: "DEADLINE_EXCEEDED",
      detail: "The server did not answer in time. Whether it took the request is not known; repeating it is safe.",
    };
  }
  return internalProblem();
}

function headersOf(refusal: Refusal): Record<string, string> {
  const headers: Record<string, string> = {};
  // Nothing of the error's text: a header is no place for it.
  if (refusal.grpcCode === status.UNAUTHENTICATED) headers["WWW-Authenticate"] = 'Bearer realm="kesc"';
  if (refusal.retryAfterSeconds !== undefined) {
    headers["Retry-After"] = String(Math.max(refusal.retryAfterSeconds, RETRY_AFTER_SECONDS_MIN));
  }
  return headers;
}
