import type { RailAccountId, RailReceipt } from "./payment.js";
import type { Rail } from "./transaction.js";
import type { Cents } from "./values/cents.js";
import type { AccountId, DepositId, OrganizationId, TransactionId } from "./values/ids.js";
import type { MaskedPhone } from "./values/masked-phone.js";
import { type Parsed, parsed, unparsed } from "./values/parsed.js";
import type { Reference } from "./values/text.js";
import type { UnixMillis } from "./values/time.js";

export const DEPOSIT_STATUSES = ["UNALLOCATED", "CREDITED", "RETURNED", "REVERSED", "RETURNING"] as const;

/**
 * UNALLOCATED → CREDITED → UNALLOCATED …, then RETURNED to the payer, or REVERSED: the rail took it
 * back. These two are final. UNALLOCATED → RETURNING: the rail was asked to return it. It ends as
 * RETURNED, or as UNALLOCATED again.
 */
export type DepositStatus = (typeof DEPOSIT_STATUSES)[number];

/**
 * Why a deposit is credited to no account:
 *
 * - NO_REFERENCE: the payer typed nothing.
 * - UNKNOWN_REFERENCE: no account has what the payer typed.
 * - ACCOUNT_CLOSED: the account of the reference is closed.
 * - LIMIT_EXCEEDED: the account, or the organization, would exceed a limit.
 * - ORDER_UNCLEAR: the payer typed the reference of an order, and it does not fit the order.
 * - BY_HAND: an operator recorded the deposit, and named no account.
 * - UNASSIGNED: an operator took the credit back.
 * - RETURN_FAILED: the rail refused to return it.
 * - RECEIPT_ALREADY_USED: the book has the number of its receipt from another source.
 */
export const DEPOSIT_REASONS = [
  "NO_REFERENCE",
  "UNKNOWN_REFERENCE",
  "ACCOUNT_CLOSED",
  "LIMIT_EXCEEDED",
  "ORDER_UNCLEAR",
  "BY_HAND",
  "UNASSIGNED",
  "RETURN_FAILED",
  "RECEIPT_ALREADY_USED",
] as const;
export type DepositReason = (typeof DEPOSIT_REASONS)[number];

/** What the book had from another source with the number of a rail's receipt. */
export interface SameNumber {
  readonly receipt: RailReceipt;
  /** Undefined if the receipt belongs to a correction of the book. */
  readonly id: TransactionId | DepositId | undefined;
}

/** Returns whether the shillings of a deposit lie in the book account `unallocated`. */
export function isUnallocated({ status }: { readonly status: DepositStatus }): boolean {
  return status === "UNALLOCATED" || status === "RETURNING";
}

/** What a payer typed as account number, as the rail reports it. It may hold personal data. */
export type TypedReference = string & { readonly brand: unique symbol };

const TYPED_CHARACTERS_MAX = 64;
const UNPRINTABLE = /[^\p{L}\p{M}\p{N}\p{P}\p{S}\p{Zs}]/gu;

/** Parses what the payer of a sandbox types: at most 64 printable characters. */
export function parseTypedReference(unchecked: string): Parsed<TypedReference> {
  if (unchecked === typedReferenceOf(unchecked)) return parsed(unchecked as TypedReference);
  const code = unchecked.length > TYPED_CHARACTERS_MAX ? "TOO_LONG" : "FORMAT";
  return unparsed("must be at most 64 printable characters, without a space at either end", code);
}

/** Takes what a rail lists. Cuts what no rail allows: only the reference of an account matters. */
export function typedReferenceOf(text: string): TypedReference {
  return text.replaceAll(UNPRINTABLE, "").trim().slice(0, TYPED_CHARACTERS_MAX) as TypedReference;
}

/**
 * Shillings that came in without an order. Each shilling of a deposit that is UNALLOCATED or
 * RETURNING lies in the book account `unallocated`.
 */
export interface Deposit {
  readonly id: DepositId;
  readonly organizationId: OrganizationId;
  /** The rail that reported the deposit. `direct` if an operator has recorded it. */
  readonly rail: Rail;
  /** Undefined if an operator has recorded it. */
  readonly railAccountId: RailAccountId | undefined;
  readonly receipt: RailReceipt;
  readonly amountCents: Cents;
  readonly status: DepositStatus;
  /** Undefined unless the deposit is UNALLOCATED. */
  readonly reason: DepositReason | undefined;
  /** Why the deposit was not credited by itself. It stays. Undefined for almost every deposit. */
  readonly sameNumber: SameNumber | undefined;
  /** The account that has the shillings. Undefined unless the deposit is CREDITED or was. */
  readonly accountId: AccountId | undefined;
  /** The mint that credited them last. Undefined while the deposit is UNALLOCATED. */
  readonly transactionId: TransactionId | undefined;
  /** How often the deposit was credited. */
  readonly credits: number;
  /** Undefined if the payer typed nothing, and after an erasure. */
  readonly typedReference: TypedReference | undefined;
  readonly maskedPhone: MaskedPhone | undefined;
  /** When the payer paid, if the rail says so. */
  readonly paidAt: UnixMillis | undefined;
  readonly createdAt: UnixMillis;
  readonly updatedAt: UnixMillis;
}

/** The reference of the mint that credits a deposit for the nth time. */
export function creditReference({ id, credits }: Pick<Deposit, "id" | "credits">): Reference {
  return `kesc:deposit:${id}:${String(credits + 1)}` as Reference;
}

/**
 * Returns the detail of a row about a deposit: its id, and why it is credited to no account. With
 * RECEIPT_ALREADY_USED come the other receipt, and the id of what has it.
 */
export function depositDetail({ id, reason, sameNumber }: Pick<Deposit, "id" | "reason" | "sameNumber">): string {
  if (reason === undefined) return id;
  if (reason !== "RECEIPT_ALREADY_USED" || sameNumber === undefined) return `${id} ${reason}`;
  return [id, reason, sameNumber.receipt, ...(sameNumber.id === undefined ? [] : [sameNumber.id])].join(" ");
}

/** Reads what `depositDetail` made. */
export function readDepositDetail(detail: string): {
  readonly id: DepositId;
  readonly reason?: DepositReason;
  readonly sameNumber?: SameNumber;
} {
  const [id, reason, receipt, other] = detail.split(" ") as [
    DepositId,
    DepositReason?,
    RailReceipt?,
    (TransactionId | DepositId)?,
  ];
  if (reason === undefined) return { id };
  return { id, reason, ...(receipt === undefined ? {} : { sameNumber: { receipt, id: other } }) };
}
