import type { Person } from "../../domain/account.js";
import type { Freeze } from "../../domain/freeze.js";
import type { JournalEntry } from "../../domain/journal.js";
import type { RailMovement } from "../../domain/payment.js";
import type { Transaction } from "../../domain/transaction.js";
import { type InsertedRow, insertedTypesOf } from "../../model/column.js";
import { JOURNAL } from "../../model/transactions.js";
import { contentHash } from "../secrets/content-hash.js";
import { metadataText } from "./rows.js";

export const JOURNAL_COLUMNS = insertedTypesOf(JOURNAL);

export type JournalRow = InsertedRow<typeof JOURNAL>;

export interface JournalRowFacts {
  /** The number of the book. */
  readonly book: number;
  readonly seq: number;
  /** The `seq` of the previous row of the same account. */
  readonly previousSeq: number | null;
  /** The salt of the content hash, in hexadecimal. */
  readonly salt: string;
  /** The fields of what the entry created, and its proofs, which the content hash covers. */
  readonly created: readonly string[];
}

export function journalRowOf(
  entry: JournalEntry,
  { book, seq, previousSeq, salt, created }: JournalRowFacts,
): JournalRow {
  const accountId = entry.accountId ?? null;
  const transactionId = entry.transactionId ?? null;
  const { kind, recordedAt } = entry;
  return {
    book,
    seq,
    previous_seq: previousSeq,
    account_id: accountId,
    transaction_id: transactionId,
    freeze_id: entry.freezeId ?? null,
    kind,
    debit: entry.posting?.debit ?? null,
    credit: entry.posting?.credit ?? null,
    amount_cents: entry.posting?.amountCents ?? null,
    available_after_cents: entry.balancesAfter?.availableCents ?? null,
    held_after_cents: entry.balancesAfter?.heldCents ?? null,
    detail: entry.detail ?? null,
    rail_receipt: entry.receipt ?? null,
    actor: entry.actor,
    reason: entry.reason,
    recorded_at: recordedAt,
    content_hash: contentHash(salt, { kind, transactionId, accountId, recordedAt, created }),
  };
}

/** Returns the fields of a new transaction that the content hash covers. They never change. */
export function contentOfTransaction(transaction: Transaction): readonly string[] {
  const { type, amountCents, reference, description, metadata, rail, corrects } = transaction;
  const correction = [corrects?.kind ?? "", corrects?.transactionId ?? ""];
  return [type, String(amountCents), reference, description, metadataText(metadata), rail, ...correction].concat(
    // A book has rows from before there were deposits and destinations. None has both.
    transaction.depositId ?? transaction.destinationId ?? [],
  );
}

/** Returns the fields of a new freeze that the content hash covers. They never change. */
export function contentOfFreeze({ id, reason, note }: Freeze): readonly string[] {
  return [id, reason, note];
}

/**
 * Returns what an entry says besides its kind, and what proves it. The content hash covers these
 * after the fields of what the entry created. `movement` is that of the transaction which the entry
 * books.
 */
export function proofsOf({ detail, receipt }: JournalEntry, movement: RailMovement | undefined): readonly string[] {
  if (detail === undefined && receipt === undefined && movement === undefined) return [];
  return [detail ?? "", receipt ?? "", movement ?? ""];
}

/** Returns the fields of a new account's holder that the content hash covers. */
export function contentOfPerson({ userId, phoneNumber, email }: Person): readonly string[] {
  return [userId, phoneNumber, email];
}
