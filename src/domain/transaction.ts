import type { FailureReason, FlagReason, HoldReason, RailMovement, RailReceipt } from "./payment.js";
import type { Cents } from "./values/cents.js";
import type { AccountId, DepositId, DestinationId, OrganizationId, TransactionId } from "./values/ids.js";
import { type Parsed, parsed, unparsed } from "./values/parsed.js";
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
/** The rail whose payouts go to a bank in files. Its receipts are those of a bank's statements. */
export const BANK_RAIL = "bank" as Rail;

const RAIL = /^[a-z][a-z0-9_-]{0,31}$/;

/** Parses the name of a rail, which need not exist. */
export function parseRail(unchecked: string): Parsed<Rail> {
  return RAIL.test(unchecked)
    ? parsed(unchecked as Rail)
    : unparsed("must be the name of a rail, such as direct or mpesa");
}

/**
 * The link of a transaction to an earlier one that it corrects. A REVERSAL undoes the earlier one
 * in full: it has the opposite type and the same account and amount. A LATE correction books a
 * movement that the rail reported after the earlier one had ended: it has the same type, account
 * and rail.
 */
export interface Correction {
  readonly kind: "REVERSAL" | "LATE";
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
  /** The rail's name for the movement of the shillings. The row that books the money sets it. */
  readonly railMovement: RailMovement | undefined;
  /** The rail's proof of the movement. It may come later than the movement. */
  readonly railReceipt: RailReceipt | undefined;
  /** Undefined unless the transaction is FAILED. */
  readonly failure: FailureReason | undefined;
  /** Why a person must look at the transaction, in the order in which the flags were raised. */
  readonly openFlags: readonly FlagReason[];
  /** Why the redemption waits for a person before its rail is asked. Empty unless PENDING. */
  readonly heldFor: readonly HoldReason[];
  /** Undefined unless the transaction corrects another one. */
  readonly corrects: Correction | undefined;
  /** The deposit whose shillings the transaction credits, or takes back. */
  readonly depositId: DepositId | undefined;
  /** The destination that a redemption pays. Undefined if it pays the account's phone number. */
  readonly destinationId: DestinationId | undefined;
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

/**
 * Whether a rail has carried out the redemption: to its destination, or to the account's own phone
 * number. A late correction does not say to which.
 */
export function isPaidOut({ type, status, rail, depositId, corrects }: Transaction): boolean {
  const isOrder = rail !== DIRECT_RAIL && depositId === undefined && corrects === undefined;
  return isOrder && type === "REDEEM" && status === "COMPLETED";
}

/** A transaction that a person has resolved, and the late transaction that books what has moved. */
export interface ResolvedTransaction extends Transaction {
  /** Undefined unless another amount has moved than the ordered one. */
  readonly correction: Transaction | undefined;
}

/** The reference of the only reversal of a transaction. A caller cannot choose such a reference. */
export function reversalReference(transactionId: TransactionId): Reference {
  return `kesc:reverse:${transactionId}` as Reference;
}
