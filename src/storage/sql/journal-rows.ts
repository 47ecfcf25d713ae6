import type { Person } from "../../domain/account.js";
import { REVEALS_MAX } from "../../domain/accounts/reveal-account.js";
import type { Freeze } from "../../domain/freeze.js";
import type { JournalEntry } from "../../domain/journal.js";
import type { RailMovement } from "../../domain/payment.js";
import type { Transaction } from "../../domain/transaction.js";
import type { Actor } from "../../domain/values/actor.js";
import type { UnixMillis } from "../../domain/values/time.js";
import { type InsertedRow, insertedTypesOf } from "../../model/column.js";
import { JOURNAL } from "../../model/transactions.js";
import { contentHash } from "../secrets/book-keys.js";
import type { Engine } from "./engine.js";
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

/** The newest reveals of one person. */
export interface RevealsRow {
  readonly actor: string;
  /** A JSON array of `{"recorded_at": 1}`. Null without any. */
  readonly times: string | null;
}

/** Returns the SELECT of the persons whom the SELECT `persons` names in its column `value`. */
export function revealsSelect({ table, jsonRows }: Engine, persons: string): string {
  const newest = `(
    SELECT j.recorded_at FROM ${table("journal")} j WHERE j.kind = 'account.revealed' AND j.actor = i.value
    ORDER BY j.recorded_at DESC LIMIT ${String(REVEALS_MAX)}
  ) r`;
  return `SELECT i.value AS actor, ${jsonRows("r", { recorded_at: "int64" }, newest)} AS times FROM (${persons}) i`;
}

/** Returns the times of each person, oldest first. */
export function revealsOf(rows: readonly RevealsRow[]): ReadonlyMap<Actor, readonly UnixMillis[]> {
  return new Map(
    rows.map(({ actor, times }) => {
      const found = JSON.parse(times ?? "[]") as readonly { readonly recorded_at: UnixMillis }[];
      return [actor as Actor, found.map(({ recorded_at: at }) => at).sort((left, right) => left - right)];
    }),
  );
}
