import { toUSVString } from "node:util";

import { Metadata, status as Status } from "@grpc/grpc-js";

import { Status as StatusMessage } from "../../gen/google/rpc/status.js";
import { encode } from "../messages/encode.js";
import { detailsOf } from "./details.js";
import { messageOf } from "./message.js";
import { isForOperators, operatorsStatusOf } from "./operators.js";
import { operatorsMessageOf } from "./operators-message.js";
import type { Reason, ServedRefusal } from "./refusal.js";

const STATUSES = {
  INVALID_FIELD: Status.INVALID_ARGUMENT,
  MISSING_API_KEY: Status.UNAUTHENTICATED,
  INVALID_API_KEY: Status.UNAUTHENTICATED,
  SCOPE_REQUIRED: Status.PERMISSION_DENIED,
  ACCOUNT_NOT_FOUND: Status.NOT_FOUND,
  TRANSACTION_NOT_FOUND: Status.NOT_FOUND,
  ACCOUNT_ALREADY_EXISTS: Status.ALREADY_EXISTS,
  REFERENCE_ALREADY_USED: Status.ALREADY_EXISTS,
  TRANSACTION_ALREADY_REVERSED: Status.ALREADY_EXISTS,
  TRANSACTION_NOT_REVERSIBLE: Status.FAILED_PRECONDITION,
  IDEMPOTENCY_KEY_REUSED: Status.FAILED_PRECONDITION,
  INSUFFICIENT_FUNDS: Status.FAILED_PRECONDITION,
  ACCOUNT_FROZEN: Status.FAILED_PRECONDITION,
  FREEZE_NOT_FOUND: Status.NOT_FOUND,
  TOO_MANY_FREEZES: Status.FAILED_PRECONDITION,
  TOO_MANY_TIERS: Status.FAILED_PRECONDITION,
  ACCOUNT_CLOSED: Status.FAILED_PRECONDITION,
  ACCOUNT_ERASED: Status.FAILED_PRECONDITION,
  ETAG_MISMATCH: Status.ABORTED,
  ACCOUNT_NOT_EMPTY: Status.FAILED_PRECONDITION,
  INVALID_TRANSITION: Status.FAILED_PRECONDITION,
  TRANSACTION_STILL_OPEN: Status.FAILED_PRECONDITION,
  TRANSACTION_ALREADY_ENDED: Status.FAILED_PRECONDITION,
  LIMIT_EXCEEDED: Status.FAILED_PRECONDITION,
  PHONE_NUMBER_MISSING: Status.FAILED_PRECONDITION,
  ACCOUNT_HAS_OPEN_TRANSACTIONS: Status.FAILED_PRECONDITION,
  AMOUNT_NOT_PAYABLE: Status.FAILED_PRECONDITION,
  PHONE_NUMBER_COOLING: Status.FAILED_PRECONDITION,
  RECEIPT_ALREADY_USED: Status.ALREADY_EXISTS,
  BOOK_ACCOUNT_TOO_LOW: Status.FAILED_PRECONDITION,
  BOOK_RESTORED: Status.FAILED_PRECONDITION,
  RAIL_ACCOUNT_CHANGED: Status.FAILED_PRECONDITION,
  RAIL_NOT_CONFIGURED: Status.FAILED_PRECONDITION,
  PHONE_NUMBER_NOT_PAYABLE: Status.FAILED_PRECONDITION,
  PAYMENT_NOT_FOUND: Status.NOT_FOUND,
  RAIL_NOT_SANDBOX: Status.FAILED_PRECONDITION,
  CHECKPOINT_NOT_FOUND: Status.NOT_FOUND,
  NOT_SEALED: Status.FAILED_PRECONDITION,
  ORGANIZATION_SUSPENDED: Status.PERMISSION_DENIED,
  WEBHOOK_ENDPOINT_NOT_FOUND: Status.NOT_FOUND,
  WEBHOOK_ENDPOINT_ALREADY_EXISTS: Status.ALREADY_EXISTS,
  TOO_MANY_WEBHOOK_ENDPOINTS: Status.FAILED_PRECONDITION,
  WEBHOOK_ENDPOINT_BUSY: Status.FAILED_PRECONDITION,
  EVENT_NOT_FOUND: Status.NOT_FOUND,
  TOO_MANY_WEBHOOK_TESTS: Status.RESOURCE_EXHAUSTED,
  BOOK_MOVING: Status.UNAVAILABLE,
  CLOCK_BEHIND: Status.UNAVAILABLE,
  RATE_LIMITED: Status.RESOURCE_EXHAUSTED,
  QUEUE_FULL: Status.RESOURCE_EXHAUSTED,
  STORAGE_UNAVAILABLE: Status.UNAVAILABLE,
  SHUTTING_DOWN: Status.UNAVAILABLE,
  MALFORMED_REQUEST: Status.INVALID_ARGUMENT,
  UNSUPPORTED_COMPRESSION: Status.UNIMPLEMENTED,
  NO_SUCH_RPC: Status.UNIMPLEMENTED,
  // Clients repeat a call after RESOURCE_EXHAUSTED, the status that grpc-js has for it.
  REQUEST_TOO_LARGE: Status.INVALID_ARGUMENT,
  TOO_MANY_STREAMS: Status.RESOURCE_EXHAUSTED,
  OUTCOME_UNKNOWN: Status.DEADLINE_EXCEEDED,
  INTERNAL: Status.INTERNAL,
  DEADLINE_EXCEEDED: Status.DEADLINE_EXCEEDED,
} as const satisfies Record<Reason, Status>;

const DETAILS = "grpc-status-details-bin";

/** The gRPC status of a refusal. */
export interface RefusalStatus {
  readonly code: Status;
  readonly details: string;
  readonly metadata: Metadata;
}

export function statusCodeOf(reason: Reason): Status {
  return STATUSES[reason];
}

/**
 * Returns the status of a refusal. Its metadata `grpc-status-details-bin` holds a
 * google.rpc.Status.
 */
export function statusOf(refusal: ServedRefusal): RefusalStatus {
  const message = statusMessageOf(refusal);
  const metadata = new Metadata();
  metadata.set(DETAILS, encode(StatusMessage, message));
  return { code: codeOf(refusal), details: message.message, metadata };
}

/** Returns whether the status has details, which `statusOf` gives to each. */
export function hasDetails({ metadata }: { readonly metadata?: Metadata | null | undefined }): boolean {
  return (metadata?.get(DETAILS).length ?? 0) > 0;
}

/** Returns the refusal as a google.rpc.Status. A batch returns it for each refused item. */
export function statusMessageOf(refusal: ServedRefusal): StatusMessage {
  // grpc-js passes the text to encodeURI. That throws on half of a surrogate pair and ends the
  // process.
  const message = toUSVString(isForOperators(refusal) ? operatorsMessageOf(refusal) : messageOf(refusal));
  return { code: codeOf(refusal), message, details: detailsOf(refusal) };
}

function codeOf(refusal: ServedRefusal): Status {
  return isForOperators(refusal) ? operatorsStatusOf(refusal) : STATUSES[refusal.reason];
}
