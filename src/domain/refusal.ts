import type { AccountStatus } from "./account.js";
import type { DepositStatus } from "./deposit.js";
import type { DestinationKind } from "./destination.js";
import type { ReachedLimit } from "./limits/usage.js";
import type { RailReceipt } from "./payment.js";
import type { Rail, TransactionStatus } from "./transaction.js";
import type { Cents } from "./values/cents.js";
import type {
  AccountId,
  ApiKeyId,
  DepositId,
  DestinationId,
  FreezeId,
  ProposalId,
  TransactionId,
  WebhookEndpointId,
} from "./values/ids.js";
import type { NearestAmounts, PayableAmounts } from "./values/payable-amounts.js";
import type { UnixMillis } from "./values/time.js";

/**
 * A refusal by a business rule, with its facts. The union is closed: a new refusal does not compile
 * until it has a gRPC status.
 */
export type Refusal =
  | { readonly reason: "ACCOUNT_NOT_FOUND"; readonly accountId: AccountId }
  | { readonly reason: "TRANSACTION_NOT_FOUND"; readonly transactionId: TransactionId }
  /** The transaction has no order: it was not given to a rail. */
  | { readonly reason: "PAYMENT_NOT_FOUND"; readonly transactionId: TransactionId }
  | { readonly reason: "DEPOSIT_NOT_FOUND"; readonly depositId: DepositId }
  /** The account has no such freeze. */
  | { readonly reason: "FREEZE_NOT_FOUND"; readonly freezeId: FreezeId }
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
  /** The rail has the transaction: it must be resolved before its flags are cleared. */
  | { readonly reason: "TRANSACTION_STILL_OPEN"; readonly transactionId: TransactionId }
  /** The transaction has ended in another way than the resolution says. */
  | {
      readonly reason: "TRANSACTION_ALREADY_ENDED";
      readonly transactionId: TransactionId;
      readonly status: TransactionStatus;
    }
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
      readonly cause: "NOT_COMPLETED" | "OTHER_RAIL" | "IS_REVERSAL" | "DEPOSIT";
    }
  | { readonly reason: "INSUFFICIENT_FUNDS"; readonly availableCents: Cents; readonly requestedCents: Cents }
  | { readonly reason: "ACCOUNT_FROZEN"; readonly accountId: AccountId }
  /** As many freezes stand as an account can have. */
  | { readonly reason: "TOO_MANY_FREEZES"; readonly accountId: AccountId; readonly limit: number }
  | { readonly reason: "ACCOUNT_CLOSED"; readonly accountId: AccountId }
  /** The resource has another version than the caller named. */
  | { readonly reason: "ETAG_MISMATCH"; readonly etag: string }
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
      readonly from: AccountStatus | TransactionStatus | DepositStatus;
      readonly to: AccountStatus | TransactionStatus | DepositStatus;
    }
  | {
      readonly reason: "LIMIT_EXCEEDED";
      /** Undefined if the limit of the organization's book is reached, not that of the account. */
      readonly accountId: AccountId | undefined;
      readonly limitCents: number;
      /** Undefined if the balance or the book has no room. Then it is no limit that was set. */
      readonly reached?: Omit<ReachedLimit, "limitCents">;
    }
  /** As many tiers have limits as an organization can have. */
  | { readonly reason: "TOO_MANY_TIERS"; readonly limit: number }
  /** A payment of the account is on its way. */
  | { readonly reason: "ACCOUNT_HAS_OPEN_TRANSACTIONS"; readonly accountId: AccountId; readonly openPayments: number }
  /** The rail cannot move exactly this amount. */
  | {
      readonly reason: "AMOUNT_NOT_PAYABLE";
      readonly payable: PayableAmounts;
      readonly nearest: NearestAmounts;
    }
  /** The organization cannot use the rail. */
  | { readonly reason: "RAIL_NOT_CONFIGURED"; readonly rail: Rail }
  /** The rail cannot reach the phone number. */
  | { readonly reason: "PHONE_NUMBER_NOT_PAYABLE"; readonly rail: Rail }
  /** The phone number was changed a short time ago, so nothing is paid out to it yet. */
  | { readonly reason: "PHONE_NUMBER_COOLING"; readonly accountId: AccountId; readonly until: UnixMillis }
  /** Without a receipt, a deposit could credit the shillings of the mint a second time. */
  | { readonly reason: "RECEIPT_REQUIRED" }
  /** The book has the receipt. */
  | {
      readonly reason: "RECEIPT_ALREADY_USED";
      readonly receipt: RailReceipt;
      /** Undefined, as the deposit is, if the receipt belongs to a correction of the book. */
      readonly transactionId: TransactionId | undefined;
      readonly depositId: DepositId | undefined;
    }
  /** The rail of the transaction gives no such receipt. */
  | { readonly reason: "RECEIPT_OF_OTHER_RAIL"; readonly rail: Rail }
  | {
      readonly reason: "BOOK_ACCOUNT_TOO_LOW";
      readonly bookAccount: "unallocated" | "shortfall";
      readonly balanceCents: number;
      readonly requestedCents: Cents;
    }
  /** The book comes from a backup, and nobody has compared it with the rail yet. */
  | { readonly reason: "BOOK_RESTORED" }
  /** The account at the rail was changed since the caller read it. */
  | { readonly reason: "RAIL_ACCOUNT_CHANGED" }
  /** The organization has no account at the rail. */
  | { readonly reason: "RAIL_ACCOUNT_NOT_FOUND"; readonly rail: Rail }
  /** The rail has payments of the account, and another place does not know these. */
  | { readonly reason: "RAIL_PAYMENTS_UNDER_WAY"; readonly rail: Rail; readonly payments: number }
  /** As many places have figures as an organization can have. */
  | { readonly reason: "TOO_MANY_RESERVE_PLACES"; readonly limit: number }
  /** The rail needs a phone number, but the personal data of the account was erased. */
  | { readonly reason: "PHONE_NUMBER_MISSING"; readonly accountId: AccountId }
  | { readonly reason: "API_KEY_NOT_FOUND"; readonly keyId: ApiKeyId }
  | { readonly reason: "PROPOSAL_NOT_FOUND"; readonly proposalId: ProposalId }
  /** The proposal was decided, or can no longer be. */
  | {
      readonly reason: "PROPOSAL_CLOSED";
      readonly proposalId: ProposalId;
      readonly state: "APPROVED" | "REJECTED" | "LAPSED";
    }
  /** Nobody approves an own proposal. */
  | { readonly reason: "OWN_PROPOSAL"; readonly proposalId: ProposalId }
  /** As many proposals of one operator wait as may. */
  | { readonly reason: "TOO_MANY_PROPOSALS"; readonly limit: number }
  /** The person has looked at as many accounts in an hour as one may. */
  | { readonly reason: "TOO_MANY_REVEALS"; readonly limit: number; readonly retryMillis: number }
  /** The operator has suspended the organization. */
  | { readonly reason: "ORGANIZATION_SUSPENDED" }
  | { readonly reason: "WEBHOOK_ENDPOINT_NOT_FOUND"; readonly endpointId: WebhookEndpointId }
  /** The URL has an endpoint with other content. */
  | {
      readonly reason: "WEBHOOK_ENDPOINT_ALREADY_EXISTS";
      readonly endpointId: WebhookEndpointId;
      readonly differingFields: readonly string[];
    }
  | { readonly reason: "TOO_MANY_WEBHOOK_ENDPOINTS"; readonly limit: number }
  /** Another replay is under way, or too many events are undelivered. */
  | { readonly reason: "WEBHOOK_ENDPOINT_BUSY"; readonly endpointId: WebhookEndpointId }
  | { readonly reason: "EVENT_NOT_FOUND"; readonly sequence: number }
  | { readonly reason: "TOO_MANY_WEBHOOK_TESTS"; readonly limit: number }
  /** The book is moving to another cell, or has moved. */
  | { readonly reason: "BOOK_MOVING" }
  /** The clock of this server is far behind the last row of the book. */
  | { readonly reason: "CLOCK_BEHIND"; readonly behindMillis: number }
  /** The account has no such destination, or it was removed. */
  | { readonly reason: "DESTINATION_NOT_FOUND"; readonly destinationId: DestinationId }
  /** The account at the rail does not pay destinations of this kind. */
  | { readonly reason: "DESTINATION_NOT_PAYABLE"; readonly rail: Rail; readonly kind: DestinationKind }
  /** The destination is new. Nothing is paid out to it before this time. */
  | { readonly reason: "DESTINATION_COOLING"; readonly destinationId: DestinationId; readonly until: UnixMillis }
  /** The account has as many destinations as it can have. */
  | { readonly reason: "TOO_MANY_DESTINATIONS"; readonly accountId: AccountId; readonly limit: number };
