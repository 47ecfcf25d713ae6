import {
  type DescEnum,
  type DescEnumValue,
  type DescExtension,
  type FileRegistry,
  getOption,
} from "@bufbuild/protobuf";
import { status } from "@grpc/grpc-js";

import { lineOf } from "../../contract/comments.js";
import { extensionOf } from "../../contract/contract.js";

/** A reason for a problem, as its page shows it. */
export interface Reason {
  readonly code: string;
  readonly httpStatus: number;
  /** The name of the gRPC status; undefined for a reason that only the gateway has. */
  readonly grpcStatus: string | undefined;
  readonly facts: readonly string[];
  /** A sentence without its period. */
  readonly meaning: string;
  readonly remedy: string;
}

/** The only table from gRPC codes to HTTP statuses. */
export const HTTP_STATUS: Readonly<Record<status, number>> = {
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
  [status.ABORTED]: 412,
  [status.OUT_OF_RANGE]: 400,
  [status.UNIMPLEMENTED]: 501,
  [status.INTERNAL]: 500,
  [status.UNAVAILABLE]: 503,
  [status.DATA_LOSS]: 500,
  [status.UNAUTHENTICATED]: 401,
};

/** The reasons that the gateway has besides those of the contract. */
export const OWN_REASONS = {
  MALFORMED_BODY: {
    httpStatus: 400,
    meaning: "the body is not one JSON object in UTF-8, or has a key twice",
    remedy: "send one JSON object in UTF-8, no key twice",
  },
  BODY_TOO_LARGE: {
    httpStatus: 413,
    meaning: "the body has too many bytes",
    remedy: "send at most KESC_HTTP_BODY_BYTES_MAX bytes",
  },
  UNSUPPORTED_MEDIA_TYPE: {
    httpStatus: 415,
    meaning: "the body is not JSON, or is compressed",
    remedy: "send Content-Type: application/json, not compressed",
  },
  NO_SUCH_ROUTE: { httpStatus: 404, meaning: "the path is unknown", remedy: "see /docs/guides/api for all paths" },
  METHOD_NOT_ALLOWED: {
    httpStatus: 405,
    meaning: "the path does not support the method",
    remedy: "use a method that Allow names",
  },
  NOT_ACCEPTABLE: {
    httpStatus: 406,
    meaning: "the path serves none of the types that the header Accept names",
    remedy: "send Accept with a type that the detail names",
  },
  HTTP_VERSION_TOO_OLD: {
    httpStatus: 426,
    meaning: "the request is HTTP/1.0, in which a body that was cut off looks whole",
    remedy: "send HTTP/1.1; in a proxy, set it for the gateway",
  },
  EXPECTATION_FAILED: {
    httpStatus: 417,
    meaning: "the header Expect is not 100-continue",
    remedy: "send no Expect but 100-continue",
  },
  HEADERS_TOO_LARGE: {
    httpStatus: 431,
    meaning: "the headers are too large; the gateway closes the connection",
    remedy: "send less than 16 KiB",
  },
  REQUEST_TIMEOUT: {
    httpStatus: 408,
    meaning: "the request did not arrive in time; the gateway closes the connection",
    remedy: "send the headers in 10 and all in 30 seconds",
  },
  SERVER_UNREACHABLE: {
    httpStatus: 503,
    meaning: "the gateway cannot reach the server, which may have processed the request",
    remedy: "send the same call again after Retry-After",
  },
  NOT_READY: {
    httpStatus: 503,
    meaning: "the gateway or the server is not serving; only /readyz says so",
    remedy: "wait",
  },
} as const satisfies Record<string, Pick<Reason, "httpStatus" | "meaning" | "remedy">>;

/** Returns all reasons: those of the contract's ErrorReason, then those of the gateway. */
export function reasonsOf(registry: FileRegistry): readonly Reason[] {
  const desc = errorReasonOf(registry);
  const remedy = extensionOf(registry, "kesc.v1.remedy");
  const own = Object.entries(OWN_REASONS).map(([code, reason]) => ({
    code,
    grpcStatus: undefined,
    facts: [],
    ...reason,
  }));
  return [...desc.values.filter(({ number }) => number !== 0).map((value) => reasonOf(value, remedy)), ...own];
}

/** Returns the contract's ErrorReason. Throws when the contract has none. */
export function errorReasonOf(registry: FileRegistry): DescEnum {
  const desc = registry.getEnum("kesc.v1.ErrorReason");
  if (desc === undefined) throw new Error("the contract has no enum kesc.v1.ErrorReason");
  return desc;
}

// "NOT_FOUND: the account does not exist. Facts: account_id."
const COMMENT = /^([A-Z_]+): (.+?)\.(?: Facts: ([a-z_, ]+)\.)?$/;

/** Throws when the comment of the value is not of the form that all others have. */
function reasonOf(value: DescEnumValue, remedy: DescExtension): Reason {
  const code = value.name.slice("ERROR_REASON_".length);
  const [, grpcStatus = "", meaning = "", facts] = COMMENT.exec(lineOf(value)) ?? [];
  const grpcCode = (status as Readonly<Record<string, unknown>>)[grpcStatus] as status | undefined;
  if (grpcCode === undefined) throw new Error(`the comment of ${value.name} does not begin with a gRPC status`);
  return {
    code,
    grpcStatus,
    httpStatus: HTTP_STATUS[grpcCode],
    facts: facts?.split(", ") ?? [],
    meaning,
    remedy: getOption(value, remedy) as string,
  };
}
