import type { Cents } from "./values/cents.js";
import type { AccountId, OrganizationId, TransactionId } from "./values/ids.js";
import type { Description, Metadata, Reference, StatusReason } from "./values/text.js";
import type { UnixMillis } from "./values/time.js";

export const TRANSACTION_TYPES = ["MINT", "REDEEM"] as const;
export const TRANSACTION_STATUSES = ["PENDING", "PROCESSING", "COMPLETED", "FAILED", "CANCELED"] as const;

export type TransactionType = (typeof TRANSACTION_TYPES)[number];

/** PENDING → PROCESSING → COMPLETED or FAILED; PENDING → CANCELED. The last three are final. */
export type TransactionStatus = (typeof TRANSACTION_STATUSES)[number];

/**
 * The way in which the shillings move. On `direct` the caller attests that they have moved, so a
 * mint or a redemption completes in the commit that accepts it. On any other rail the shillings
 * move later.
 */
export type Rail = string & { readonly brand: unique symbol };

export const DIRECT_RAIL = "direct" as Rail;

/**
 * The link of a transaction to an earlier one that it corrects. A REVERSAL undoes the earlier one
 * in full: it has the opposite type and the same account and amount.
 */
export interface Correction {
  readonly kind: "REVERSAL";
  readonly transactionId: TransactionId;
}

/**
 * One movement between Kenyan shillings and KESC. It summarizes the transaction's rows in the
 * journal.
 */
export interface Transaction {
  readonly id: TransactionId;
  readonly organizationId: OrganizationId;
  readonly accountId: AccountId;
  readonly type: TransactionType;
  readonly status: TransactionStatus;
  readonly statusReason: StatusReason;
  readonly amountCents: Cents;
  readonly reference: Reference;
  readonly description: Description;
  readonly metadata: Metadata;
  readonly rail: Rail;
  /** Undefined unless the transaction corrects another one. */
  readonly corrects: Correction | undefined;
  /** The transaction that reversed this one. */
  readonly reversedById: TransactionId | undefined;
  /**
   * The account's available balance after the posting that completed the transaction. Later
   * transactions do not change it. Undefined until the transaction is COMPLETED.
   */
  readonly availableAfterCents: Cents | undefined;
  readonly createdAt: UnixMillis;
  readonly updatedAt: UnixMillis;
  readonly completedAt: UnixMillis | undefined;
}
