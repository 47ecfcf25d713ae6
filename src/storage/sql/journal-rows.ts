import { REVEALS_MAX } from "../../domain/accounts/reveal-account.js";
import type { PersonalSum } from "../../domain/alone.js";
import { type Closing, readClosing } from "../../domain/closing.js";
import {
  DECIDING_KINDS,
  type DecidingKind,
  type DecidingRow,
  type JournalEntry,
  type JournalKind,
} from "../../domain/journal.js";
import type { RailMovement } from "../../domain/payment.js";
import { type CheckRules, DEADLINE_SECONDS_MIN, type PayoutCheck, readCheck } from "../../domain/payout-check.js";
import type { AlonePerson } from "../../domain/proposal.js";
import type { Actor } from "../../domain/values/actor.js";
import type { AccountId, OrganizationId, TransactionId } from "../../domain/values/ids.js";
import { toUnixMillis, type UnixMillis } from "../../domain/values/time.js";
import type { BankFileRow, PaidTo } from "../../ledger/ports/store.js";
import { type InsertedRow, insertedTypesOf, type RowOf, typesOf } from "../../model/column.js";
import {
  BANK_FILE_IN,
  CHECK_ROWS,
  CLOSED_MONTH,
  CLOSINGS,
  JOURNAL,
  ROWS_OF_BANK_FILES,
} from "../../model/transactions.js";
import { contentHash } from "../secrets/book-keys.js";
import type { OpenBook } from "./book-directory.js";
import type { Engine } from "./engine.js";

export const JOURNAL_COLUMNS = insertedTypesOf(JOURNAL);

/** The columns of what one person did alone. */
export const ALONE_COLUMNS = typesOf(JOURNAL, ["alone_by", "alone_cents"]);

export type JournalRow = InsertedRow<typeof JOURNAL> & Partial<Pick<RowOf<typeof JOURNAL>, keyof typeof ALONE_COLUMNS>>;

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
    ...(entry.alone === undefined ? {} : { alone_by: entry.alone.person, alone_cents: entry.alone.cents }),
  };
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

export type DecidingJournalRow = Pick<
  RowOf<typeof JOURNAL>,
  "book" | "seq" | "account_id" | "transaction_id" | "detail"
> & { readonly kind: DecidingKind };

/**
 * Returns the SELECT of the deciding rows that are newer than the oldest proposal about a subject
 * of `pairs`, or the oldest one of an operator that waits in the same book.
 */
export function decidingSelect({ table, indexedBy }: Engine, pairs: string): string {
  const proposals = table("proposals");
  // The literal list is that of the partial index.
  const kinds = DECIDING_KINDS.map((kind) => `'${kind}'`).join(", ");
  return `
    SELECT j.book, j.seq, j.kind, j.account_id, j.transaction_id, j.detail FROM ${pairs}
    CROSS JOIN ${table("journal")} j${indexedBy("journal_deciding")}
    WHERE j.book = input.book AND j.kind IN (${kinds}) AND j.seq > (
      SELECT MIN(s.seq) FROM (
        SELECT p.seq FROM ${proposals} p WHERE p.subject = input.name
        UNION ALL
        SELECT p.seq FROM ${proposals} p WHERE p.book = input.book AND p.done_at IS NULL AND p.expires_at IS NOT NULL
      ) s
    )`;
}

export function decidingRowOf(
  row: DecidingJournalRow,
  { organizationId }: { readonly organizationId: OrganizationId },
): DecidingRow {
  return {
    organizationId,
    seq: row.seq,
    kind: row.kind,
    accountId: (row.account_id ?? undefined) as AccountId | undefined,
    transactionId: (row.transaction_id ?? undefined) as TransactionId | undefined,
    detail: row.detail ?? undefined,
  };
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

/** Returns the SELECT of the newest act of each person whom `pairs` names, which has the sum. */
export function aloneSumsSelect({ table }: Engine, pairs: string): string {
  return `
    SELECT j.book, j.alone_by, j.alone_cents, j.recorded_at FROM ${pairs}
    CROSS JOIN ${table("journal")} j WHERE j.book = input.book AND j.seq = (
      SELECT MAX(s.seq) FROM ${table("journal")} s WHERE s.book = input.book AND s.alone_by = input.name
    )`;
}

/** The newest row of what a person did alone. */
export interface AloneRow {
  readonly book: number;
  readonly alone_by: string;
  readonly alone_cents: number;
  readonly recorded_at: number;
}

export function personalSumOf(row: AloneRow, { organizationId }: OpenBook): PersonalSum {
  return {
    organizationId,
    person: row.alone_by as AlonePerson,
    cents: row.alone_cents,
    at: toUnixMillis(row.recorded_at),
  };
}

/** Returns the SELECT of the rows that approved files which `pairs` names, or marked them lost. */
export function bankFilesSelect({ table, indexedBy }: Engine, pairs: string): string {
  return `
    SELECT j.book, j.kind, j.detail, j.actor FROM ${pairs}
    CROSS JOIN ${table("journal")} j${indexedBy("journal_bank_files")}
    WHERE j.book = input.book AND ${BANK_FILE_IN} = input.name AND ${ROWS_OF_BANK_FILES}
      AND j.kind <> 'bank_file.downloaded'`;
}

export type BankFileJournalRow = Pick<RowOf<typeof JOURNAL>, "book" | "kind" | "detail" | "actor">;

export function bankFileRowOf(
  { kind, detail, actor }: Omit<BankFileJournalRow, "book">,
  { organizationId }: OpenBook,
): BankFileRow {
  return { organizationId, kind: kind as JournalKind, detail: detail ?? undefined, actor: actor as Actor };
}

/** Returns the SELECT of the newest row about the check of each organization that `list` names. */
export function payoutChecksSelect({ table, hex, indexedBy }: Engine, list: string): string {
  const newest = `
    SELECT MAX(s.seq) FROM ${table("journal")} s${indexedBy("journal_payout_checks")}
    WHERE s.book = o.number AND ${CHECK_ROWS}`;
  return `
    SELECT ${checkColumns({ hex })} FROM ${table("books")} o
    JOIN ${table("journal")} j ON j.book = o.number AND j.seq = (${newest})
    WHERE o.organization_id IN (${list})`;
}

/** Returns the columns of `CheckRow`, of the table `j`. */
export function checkColumns({ hex }: Pick<Engine, "hex">): string {
  return `j.book, j.seq, j.kind, j.detail, j.recorded_at, ${hex("j.content_hash")} AS content_hash`;
}

export type CheckRow = Pick<RowOf<typeof JOURNAL>, "book" | "seq" | "kind" | "detail" | "recorded_at"> & {
  /** In hexadecimal. */
  readonly content_hash: string;
};

/**
 * Returns the check that the newest row sets. Undefined if the row clears it. A row that somebody
 * has changed past the service sets a check that never answers, so that payouts wait for persons.
 */
export function payoutCheckOf(row: CheckRow, { organizationId, salts }: OpenBook): PayoutCheck | undefined {
  const { seq, kind, detail, recorded_at: at, content_hash: hash } = row;
  const created = detail === null ? [] : [detail, "", ""];
  const content = { kind, transactionId: null, accountId: null, recordedAt: at, created };
  const isWhole = contentHash(salts.of(seq), content) === hash;
  if (isWhole && kind === "payouts.check_cleared") return undefined;
  const rules = isWhole ? readCheck(detail ?? "") : NEVER_ANSWERS;
  return { ...rules, organizationId, seq, recordedAt: toUnixMillis(at) };
}

const NEVER_ANSWERS: CheckRules = { url: "", deadlineSeconds: DEADLINE_SECONDS_MIN, noAnswer: "HOLD" };

/** Returns the SELECT of the rows that closed the months which `pairs` names. */
export function closedMonthsSelect(engine: Engine, pairs: string): string {
  return `
    SELECT j.book, j.seq, j.detail, j.recorded_at FROM ${pairs}
    CROSS JOIN ${engine.table("journal")} j WHERE j.book = input.book AND ${CLOSED_MONTH} = input.name AND ${CLOSINGS}`;
}

/** A row of the read of what was paid out. */
export interface PaidRow {
  readonly book: number;
  readonly paid_to: string;
  readonly accepted_at: number;
}

export function paidToOf({ paid_to: paidTo, accepted_at: at }: PaidRow, { organizationId }: OpenBook): PaidTo {
  return { organizationId, paidTo: paidTo as PaidTo["paidTo"], acceptedAt: toUnixMillis(at) };
}

export type ClosingRow = Pick<RowOf<typeof JOURNAL>, "book" | "seq" | "detail" | "recorded_at">;

export function closingOf(
  { seq, detail, recorded_at: at }: Omit<ClosingRow, "book">,
  { organizationId }: { readonly organizationId: OrganizationId },
): Closing {
  return { ...readClosing(detail ?? ""), organizationId, seq, recordedAt: toUnixMillis(at) };
}
