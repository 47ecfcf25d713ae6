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
  | { readonly reason: "INSUFFICIENT_FUNDS"; readonly availableCents: Cents; readonly requestedCents: Cents }
  | { readonly reason: "ACCOUNT_FROZEN"; readonly accountId: AccountId }
  | { readonly reason: "ACCOUNT_CLOSED"; readonly accountId: AccountId }
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
  | { readonly reason: "LIMIT_EXCEEDED"; readonly accountId: AccountId; readonly limitCents: Cents };
