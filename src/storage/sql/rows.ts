import type { Account, AccountHolder, Person } from "../../domain/account.js";
import type { FailureReason, FlagReason, RailMovement, RailReceipt } from "../../domain/payment.js";
import type { Correction, Rail, Transaction, TransactionStatus, TransactionType } from "../../domain/transaction.js";
import { toCents } from "../../domain/values/cents.js";
import { type EmailAddress, NO_EMAIL } from "../../domain/values/email-address.js";
import type { AccountId, DepositId, DestinationId, TransactionId } from "../../domain/values/ids.js";
import type { PhoneNumber } from "../../domain/values/phone-number.js";
import type { Description, Metadata, Reference, StatusReason, UserId } from "../../domain/values/text.js";
import { toUnixMillis, type UnixMillis } from "../../domain/values/time.js";
import type { ACCOUNT_HOLDERS } from "../../model/accounts.js";
import type { RowOf } from "../../model/column.js";
import type { TRANSACTIONS } from "../../model/transactions.js";
import { blindIndexOf, decryptPersonal, encryptPersonal } from "../secrets/personal-data.js";
import { readPart } from "../secrets/unreadable-row.js";
import type { OpenBook } from "./book-directory.js";
import type { Engine } from "./engine.js";
import { standingFreezesOf, type StandingFreezesRow } from "./freeze-rows.js";
import { type AccountRow, ledgerAccountOf } from "./records/account-rows.js";

/** A row of `account_holders`. After an erasure all columns from user_id on are null. */
export type HolderRow<Bytes = Buffer> = RowOf<typeof ACCOUNT_HOLDERS, Bytes>;

/** The columns of a holder that a read of an account joins. */
export type PersonRow = Pick<HolderRow<Uint8Array>, "user_id" | "phone_number" | "email">;

/** A row of `accounts` with the columns that make a whole account. */
export type FullAccountRow = AccountRow & PersonRow & StandingFreezesRow;

/** A row of `transactions`, as both drivers read it. */
export type TransactionRow = RowOf<typeof TRANSACTIONS>;

/** A row of `transactions` with the column of `withBalanceAfter`. */
export interface ReadTransactionRow extends TransactionRow {
  /** Null until the transaction is completed. */
  readonly available_after_cents: number | null;
}

/**
 * Returns the columns that a read of transactions selects. The journal row that completed the
 * transaction has the balance after it. `t` is the table, or a selection of all its columns.
 */
export function withBalanceAfter({ table }: Pick<Engine, "table">, t = "t"): string {
  // Both engines use the partial index of terminal rows only if the statement repeats its
  // condition.
  return `${t}.*, CASE WHEN ${t}.status = 'COMPLETED' THEN (
    SELECT ended.available_after_cents FROM ${table("journal")} ended WHERE ended.transaction_id = ${t}.id
      AND ended.kind IN ('transaction.completed', 'transaction.failed', 'transaction.canceled')
  ) END AS available_after_cents`;
}

export function fullAccountOf(row: FullAccountRow, book: OpenBook): Account {
  const account = ledgerAccountOf(row, book);
  return { ...account, person: personOf(row, book, account.id), freezes: standingFreezesOf(row, book) };
}

export function holderOf(row: HolderRow, book: OpenBook): AccountHolder {
  const accountId = row.account_id as AccountId;
  return {
    accountId,
    organizationId: book.organizationId,
    person: personOf(row, book, accountId),
    isOpen: row.is_open === 1,
    phoneNumberChangedAt: timeOf(row.phone_number_changed_at),
    emailChangedAt: timeOf(row.email_changed_at),
  };
}

function timeOf(millis: number | null): UnixMillis | undefined {
  return millis === null ? undefined : toUnixMillis(millis);
}

/** Decrypts the personal data. Throws if it was changed, or belongs to another account. */
function personOf(row: PersonRow, { organizationId, keys }: OpenBook, accountId: AccountId): Person | undefined {
  const { user_id: userId, phone_number: phoneNumber, email } = row;
  if (userId === null || phoneNumber === null || email === null) return undefined;
  const place = { organizationId, ownerId: accountId };
  return {
    userId: userId as UserId,
    phoneNumber: decryptPersonal(keys, { ...place, field: "phone_number" }, phoneNumber) as PhoneNumber,
    email: decryptPersonal(keys, { ...place, field: "email" }, email) as EmailAddress,
  };
}

/** The columns of a holder after an erasure. */
const NO_PERSON = {
  user_id: null,
  phone_number: null,
  phone_number_index: null,
  phone_number_changed_at: null,
  email: null,
  email_index: null,
  email_changed_at: null,
  content_salt: null,
} as const satisfies Partial<HolderRow>;

/** One batch may create an account and erase it: then the row never holds any personal data. */
export function holderRowOf(
  holder: AccountHolder,
  { book, seq, salt }: { book: OpenBook; seq: number; salt: string },
): HolderRow<string> {
  return {
    account_id: holder.accountId,
    book: book.number,
    seq,
    is_open: holder.isOpen ? 1 : 0,
    ...personRowOf(holder, { book, salt }),
  };
}

/** Encrypts the personal data. `salt` is that of its `content_hash`, in hexadecimal. */
export function personRowOf(
  { accountId, organizationId, person, phoneNumberChangedAt, emailChangedAt }: AccountHolder,
  { book, salt }: { book: OpenBook; salt: string },
): Omit<HolderRow<string>, "account_id" | "book" | "seq" | "is_open"> {
  if (person === undefined) return NO_PERSON;
  const { userId, phoneNumber, email } = person;
  const place = { organizationId, ownerId: accountId };
  return {
    user_id: userId,
    phone_number: encryptPersonal(book.keys, { ...place, field: "phone_number" }, phoneNumber).toString("hex"),
    phone_number_index: blindIndexOf(book.keys, "phone_number", phoneNumber).toString("hex"),
    phone_number_changed_at: phoneNumberChangedAt ?? null,
    email: encryptPersonal(book.keys, { ...place, field: "email" }, email).toString("hex"),
    email_index: email === NO_EMAIL ? null : blindIndexOf(book.keys, "email", email).toString("hex"),
    email_changed_at: emailChangedAt ?? null,
    content_salt: salt,
  };
}

// The service parsed every value before it wrote the row. So the code restores the brands without a
// second check. It checks the amounts again.
export function transactionOf(row: ReadTransactionRow, { organizationId }: OpenBook): Transaction {
  return {
    id: row.id as TransactionId,
    organizationId,
    accountId: row.account_id as AccountId,
    type: row.type as TransactionType,
    status: row.status as TransactionStatus,
    statusReason: row.status_reason as StatusReason,
    amountCents: toCents(row.amount_cents),
    reference: row.reference as Reference,
    description: row.description as Description,
    metadata: metadataOf(row),
    rail: row.rail as Rail,
    railMovement: (row.rail_movement ?? undefined) as RailMovement | undefined,
    railReceipt: (row.rail_receipt ?? undefined) as RailReceipt | undefined,
    failure: (row.failure ?? undefined) as FailureReason | undefined,
    openFlags: row.open_flags === null ? NO_FLAGS : (row.open_flags.split(",") as FlagReason[]),
    corrects: correctionOf(row),
    depositId: (row.deposit_id ?? undefined) as DepositId | undefined,
    destinationId: (row.destination_id ?? undefined) as DestinationId | undefined,
    reversedById: (row.reversed_by_id ?? undefined) as TransactionId | undefined,
    availableAfterCents: row.available_after_cents === null ? undefined : toCents(row.available_after_cents),
    createdAt: toUnixMillis(row.created_at),
    updatedAt: toUnixMillis(row.updated_at),
    completedAt: row.completed_at === null ? undefined : toUnixMillis(row.completed_at),
  };
}

export function metadataOf({ id, metadata }: Pick<TransactionRow, "id" | "metadata">): Metadata {
  const entries = readPart(`metadata of ${id}`, () => new Map(JSON.parse(metadata) as [string, string][]));
  return entries as ReadonlyMap<string, string> as Metadata;
}

export function correctionOf({
  corrects_id: id,
  correction,
}: Pick<TransactionRow, "corrects_id" | "correction">): Correction | undefined {
  if (id === null) return undefined;
  return { kind: correction as Correction["kind"], transactionId: id as TransactionId };
}

/** `seq` is that of the journal row that created the transaction. */
export function transactionRowOf(
  transaction: Transaction,
  { book, seq }: { book: number; seq: number },
): TransactionRow {
  return {
    book,
    seq,
    id: transaction.id,
    account_id: transaction.accountId,
    type: transaction.type,
    status: transaction.status,
    status_reason: transaction.statusReason,
    amount_cents: transaction.amountCents,
    reference: transaction.reference,
    description: transaction.description,
    metadata: metadataText(transaction.metadata),
    rail: transaction.rail,
    rail_movement: transaction.railMovement ?? null,
    rail_receipt: transaction.railReceipt ?? null,
    failure: transaction.failure ?? null,
    open_flags: flagsText(transaction.openFlags),
    corrects_id: transaction.corrects?.transactionId ?? null,
    correction: transaction.corrects?.kind ?? null,
    deposit_id: transaction.depositId ?? null,
    destination_id: transaction.destinationId ?? null,
    reversed_by_id: transaction.reversedById ?? null,
    created_at: transaction.createdAt,
    updated_at: transaction.updatedAt,
    completed_at: transaction.completedAt ?? null,
  };
}

const NO_FLAGS: readonly FlagReason[] = [];

export function flagsText(flags: readonly FlagReason[]): string | null {
  return flags.length === 0 ? null : flags.join(",");
}

export function metadataText(metadata: Metadata): string {
  return metadata.size === 0 ? "[]" : JSON.stringify([...metadata]);
}
