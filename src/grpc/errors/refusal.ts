import type { Scope } from "../../domain/api-key.js";
import type { Refusal } from "../../domain/refusal.js";
import type { Rail } from "../../domain/transaction.js";
import type { TransactionId } from "../../domain/values/ids.js";
import type { LedgerRefusal } from "../../ledger/ports/outcome.js";
import type { OperatorRefusal } from "../../operators/refusal.js";
import type { FieldProblem } from "../messages/fields.js";

/** A refusal by the gRPC server itself. The ledger did not see the call. */
export type CallRefusal =
  | { readonly reason: "MISSING_API_KEY" }
  | { readonly reason: "INVALID_API_KEY" }
  | { readonly reason: "SCOPE_REQUIRED"; readonly scope: Scope }
  /** The key calls faster than it may. */
  | {
      readonly reason: "RATE_LIMITED";
      readonly rate: "calls" | "lists";
      readonly callsPerSecond: number;
      readonly retryMillis: number;
    }
  | { readonly reason: "INVALID_FIELD"; readonly fields: readonly FieldProblem[] }
  | { readonly reason: "MALFORMED_REQUEST"; readonly problem: string }
  | { readonly reason: "UNSUPPORTED_COMPRESSION" }
  | { readonly reason: "NO_SUCH_RPC" }
  | { readonly reason: "REQUEST_TOO_LARGE"; readonly bytesMax: number }
  | { readonly reason: "TOO_MANY_STREAMS"; readonly streamsMax: number }
  | { readonly reason: "OUTCOME_UNKNOWN" }
  /** The transaction was not given to a rail. */
  | { readonly reason: "PAYMENT_NOT_FOUND"; readonly transactionId: TransactionId }
  | { readonly reason: "RAIL_NOT_SANDBOX"; readonly transactionId: TransactionId; readonly rail: Rail }
  /** The book has no checkpoint of this size. Undefined: it has none. */
  | { readonly reason: "CHECKPOINT_NOT_FOUND"; readonly size: number | undefined }
  /** The checkpoint does not cover the row yet. */
  | { readonly reason: "NOT_SEALED"; readonly sealedSize: number }
  | { readonly reason: "INTERNAL"; readonly requestId: string };

/** Every refusal that the program of an organization can get. */
export type AnyRefusal = Refusal | LedgerRefusal | CallRefusal;
/** The same, and those that operators get. */
export type ServedRefusal = AnyRefusal | OperatorRefusal;
export type Reason = AnyRefusal["reason"];

/**
 * The reasons that no rpc of kesc.v1 gives, so its contract does not name them. The commands of the
 * operator meet them, the AdminService, or the service itself.
 */
export const REASONS_OF_OPERATORS = [
  "BOOK_ACCOUNT_TOO_LOW",
  "BOOK_RESTORED",
  "RAIL_ACCOUNT_CHANGED",
  "TOO_MANY_TIERS",
] as const satisfies Reason[];

const RAIL_REASONS = [
  "ACCOUNT_HAS_OPEN_TRANSACTIONS",
  "AMOUNT_NOT_PAYABLE",
  "PHONE_NUMBER_MISSING",
  "PHONE_NUMBER_COOLING",
  "RECEIPT_ALREADY_USED",
  "BOOK_ACCOUNT_TOO_LOW",
  "BOOK_RESTORED",
  "RAIL_ACCOUNT_CHANGED",
  "RAIL_NOT_CONFIGURED",
  "PHONE_NUMBER_NOT_PAYABLE",
  "PAYMENT_NOT_FOUND",
  "TRANSACTION_STILL_OPEN",
  "TRANSACTION_ALREADY_ENDED",
  "RAIL_NOT_SANDBOX",
] as const satisfies Reason[];

const WEBHOOK_REASONS = [
  "WEBHOOK_ENDPOINT_NOT_FOUND",
  "WEBHOOK_ENDPOINT_ALREADY_EXISTS",
  "TOO_MANY_WEBHOOK_ENDPOINTS",
  "WEBHOOK_ENDPOINT_BUSY",
  "EVENT_NOT_FOUND",
  "TOO_MANY_WEBHOOK_TESTS",
] as const satisfies Reason[];

/** A refusal about the webhooks of the organization. */
export type WebhookRefusal = Extract<AnyRefusal, { reason: (typeof WEBHOOK_REASONS)[number] }>;

export function isWebhookRefusal(refusal: AnyRefusal): refusal is WebhookRefusal {
  return WEBHOOK_REASONS.some((reason) => reason === refusal.reason);
}

/** A refusal of a payment on a rail, or of a correction of the book. */
export type RailRefusal = Extract<AnyRefusal, { reason: (typeof RAIL_REASONS)[number] }>;

export function isRailRefusal(refusal: AnyRefusal): refusal is RailRefusal {
  return RAIL_REASONS.some((reason) => reason === refusal.reason);
}
