import { toUSVString } from "node:util";

import { Metadata, status as Status } from "@grpc/grpc-js";

import { Status as StatusMessage } from "../../gen/google/rpc/status.js";
import { encode } from "../messages/encode.js";
import { detailsOf } from "./details.js";
import type { AnyRefusal, Reason } from "./refusal.js";

const STATUSES = {
  INVALID_FIELD: Status.INVALID_ARGUMENT,
  MISSING_API_KEY: Status.UNAUTHENTICATED,
  INVALID_API_KEY: Status.UNAUTHENTICATED,
  SCOPE_REQUIRED: Status.PERMISSION_DENIED,
  ACCOUNT_NOT_FOUND: Status.NOT_FOUND,
  TRANSACTION_NOT_FOUND: Status.NOT_FOUND,
  ACCOUNT_ALREADY_EXISTS: Status.ALREADY_EXISTS,
  REFERENCE_ALREADY_USED: Status.ALREADY_EXISTS,
  IDEMPOTENCY_KEY_REUSED: Status.FAILED_PRECONDITION,
  INSUFFICIENT_FUNDS: Status.FAILED_PRECONDITION,
  ACCOUNT_FROZEN: Status.FAILED_PRECONDITION,
  ACCOUNT_CLOSED: Status.FAILED_PRECONDITION,
  ACCOUNT_NOT_EMPTY: Status.FAILED_PRECONDITION,
  INVALID_TRANSITION: Status.FAILED_PRECONDITION,
  LIMIT_EXCEEDED: Status.FAILED_PRECONDITION,
  QUEUE_FULL: Status.RESOURCE_EXHAUSTED,
  STORAGE_UNAVAILABLE: Status.UNAVAILABLE,
  SHUTTING_DOWN: Status.UNAVAILABLE,
  INTERNAL: Status.INTERNAL,
  DEADLINE_EXCEEDED: Status.DEADLINE_EXCEEDED,
} as const satisfies Record<Reason, Status>;

// For people. The facts are in the details.
const MESSAGES = {
  INVALID_FIELD: "Invalid request",
  MISSING_API_KEY: "Send an API key as x-api-key, or as authorization: Bearer",
  INVALID_API_KEY: "The API key is unknown, expired or revoked",
  SCOPE_REQUIRED: "The API key does not have the scope that this call needs",
  ACCOUNT_NOT_FOUND: "There is no such account",
  TRANSACTION_NOT_FOUND: "There is no such transaction",
  ACCOUNT_ALREADY_EXISTS: "The user_id already has an account, with other content",
  REFERENCE_ALREADY_USED: "The reference already has a transaction, with other content",
  IDEMPOTENCY_KEY_REUSED: "The idempotency key was used for a call with other content",
  INSUFFICIENT_FUNDS: "Less is available than was asked for",
  ACCOUNT_FROZEN: "The account is frozen",
  ACCOUNT_CLOSED: "The account is closed",
  ACCOUNT_NOT_EMPTY: "The account still has a balance",
  INVALID_TRANSITION: "Its status does not allow this",
  LIMIT_EXCEEDED: "The account's balance would exceed what an account can hold",
  QUEUE_FULL: "Too many writes wait already; nothing was done, try again",
  STORAGE_UNAVAILABLE: "The database does not answer; the same call may be sent again",
  SHUTTING_DOWN: "This server is stopping; nothing was done, try another",
  INTERNAL: "Something went wrong on our side; the operator finds it by the request id",
  DEADLINE_EXCEEDED: "The deadline passed before the call was started; nothing was done",
} as const satisfies Record<Reason, string>;

/** A refusal as it goes on the wire. */
export interface RefusalStatus {
  readonly code: Status;
  readonly details: string;
  readonly metadata: Metadata;
}

export function statusCodeOf(reason: Reason): Status {
  return STATUSES[reason];
}

/** The status of a refusal, with a google.rpc.Status in `grpc-status-details-bin`. */
export function statusOf(refusal: AnyRefusal): RefusalStatus {
  const message = statusMessageOf(refusal);
  const metadata = new Metadata();
  metadata.set("grpc-status-details-bin", encode(StatusMessage, message));
  return { code: STATUSES[refusal.reason], details: message.message, metadata };
}

/** The same as a message, for the answer to one of many requests. */
export function statusMessageOf(refusal: AnyRefusal): StatusMessage {
  // grpc-js puts the text through encodeURI, which throws on half a surrogate pair and takes the
  // process down.
  const message = toUSVString(messageOf(refusal));
  return { code: STATUSES[refusal.reason], message, details: detailsOf(refusal) };
}

function messageOf(refusal: AnyRefusal): string {
  if (refusal.reason !== "INVALID_FIELD") return MESSAGES[refusal.reason];
  // Whoever types a call at a terminal sees this, and of the details only bytes.
  return `${MESSAGES.INVALID_FIELD}: ${refusal.fields.map(({ field, message }) => `${field} ${message}`).join("; ")}`;
}
