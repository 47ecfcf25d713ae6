import type { AccountStatus } from "./account.js";
import type { TransactionStatus } from "./transaction.js";
import type { Cents } from "./values/cents.js";
import type { AccountId, TransactionId } from "./values/ids.js";

/**
 * A refusal by a business rule, with its facts. The union is closed: a new refusal does not compile
 * until it has a gRPC status.
 */
export type Refusal =
  | { readonly reason: "ACCOUNT_NOT_FOUND"; readonly accountId: AccountId }
  | { readonly reason: "TRANSACTION_NOT_FOUND"; readonly transactionId: TransactionId }
  | {
      readonly reason: "ACCOUNT_ALREADY_EXISTS";
      readonly accountId: AccountId;
      readonly differingFields: readonly string[];
    }
  | {
      readonly reason: "REFERENCE_ALREADY_USED";
      readonly transactionId: TransactionId;
      readonly differingFields: readonly string[];
    }
  | { readonly reason: "IDEMPOTENCY_KEY_REUSED" }
  /** The transaction has a reversal with other content. */
  | {
      readonly reason: "TRANSACTION_ALREADY_REVERSED";
      readonly transactionId: TransactionId;
      readonly reversedById: TransactionId;
      readonly differingFields: readonly string[];
    }
  | {
      readonly reason: "TRANSACTION_NOT_REVERSIBLE";
      readonly transactionId: TransactionId;
      readonly cause: "NOT_COMPLETED" | "OTHER_RAIL" | "IS_REVERSAL";
    }
  | { readonly reason: "INSUFFICIENT_FUNDS"; readonly availableCents: Cents; readonly requestedCents: Cents }
  | { readonly reason: "ACCOUNT_FROZEN"; readonly accountId: AccountId }
  | { readonly reason: "ACCOUNT_CLOSED"; readonly accountId: AccountId }
  /** The personal data of the account was erased. */
  | { readonly reason: "ACCOUNT_ERASED"; readonly accountId: AccountId }
  | {
      readonly reason: "ACCOUNT_NOT_EMPTY";
      readonly accountId: AccountId;
      readonly availableCents: Cents;
      readonly heldCents: Cents;
    }
  | {
      readonly reason: "INVALID_TRANSITION";
      readonly from: AccountStatus | TransactionStatus;
      readonly to: AccountStatus | TransactionStatus;
    }
  | {
      readonly reason: "LIMIT_EXCEEDED";
      /** Undefined if the limit of the organization's book is reached, not that of the account. */
      readonly accountId: AccountId | undefined;
      readonly limitCents: number;
    }
  /** The rail needs a phone number, but the personal data of the account was erased. */
  | { readonly reason: "PHONE_NUMBER_MISSING"; readonly accountId: AccountId }
  /** The operator has suspended the organization. */
  | { readonly reason: "ORGANIZATION_SUSPENDED" }
  /** The book is moving to another cell, or has moved. */
  | { readonly reason: "BOOK_MOVING" }
  /** The clock of this server is far behind the last row of the book. */
  | { readonly reason: "CLOCK_BEHIND"; readonly behindMillis: number };
