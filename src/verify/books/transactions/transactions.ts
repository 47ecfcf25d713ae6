import { DIRECT_RAIL } from "../../../domain/transaction.js";
import type { Audit } from "../../audit.js";
import { guarded } from "../../guarded.js";
import { RowsAlongSeq } from "../along-seq.js";
import type { AuditedBook } from "../book.js";
import { type AuditedJournalRow, newerRows } from "../journal-rows.js";
import { auditCorrections } from "./corrections.js";
import { PAYMENT_COLUMNS } from "./payments.js";
import { ProposedEnds } from "./proposed-ends.js";
import { isLastKind } from "./steps.js";
import { type AuditedTransactionRow, TransactionCheck } from "./transaction-check.js";

/** A transaction whose last row of the journal was perhaps not seen yet. */
interface OpenTransaction {
  readonly summary: AuditedTransactionRow;
  readonly rows: AuditedJournalRow[];
}

interface AuditedMovementRow extends AuditedJournalRow {
  readonly transaction_id: string;
}

/**
 * Compares the transactions and payments of one book with the journal. All are read along `seq`, so
 * only the transactions with rows to come stay in memory.
 */
export class TransactionsAudit {
  readonly table = "transactions";
  readonly #audit: Audit;
  readonly #book: AuditedBook;
  readonly #onTransaction: (row: AuditedTransactionRow) => void;
  readonly #rows: RowsAlongSeq<AuditedTransactionRow>;
  readonly #ends = new ProposedEnds();
  readonly #open = new Map<string, OpenTransaction>();
  /** The open transactions whose last status is final. */
  readonly #ended = new Set<OpenTransaction>();
  /** The seq up to which `transactions` was read. */
  #readTo: number | undefined;

  /** Calls `onTransaction` for each transaction, before the rows of its slice are over. */
  constructor(audit: Audit, book: AuditedBook, onTransaction: (row: AuditedTransactionRow) => void) {
    this.#audit = audit;
    this.#book = book;
    this.#onTransaction = onTransaction;
    const { table } = audit.engine;
    this.#rows = new RowsAlongSeq(audit, book, {
      alias: "t",
      columns: COLUMNS,
      tables: `${table("transactions")} t
        LEFT JOIN ${table("payments")} p ON p.transaction_id = t.id AND p.book = t.book
        LEFT JOIN ${table("destinations")} d ON d.id = t.destination_id`,
    });
  }

  /** Called once, before the first row. */
  async begin(): Promise<void> {
    for await (const summaries of this.#rows.newerThanJournal()) await this.#openAll(summaries);
  }

  /** Takes the rows of the book in the order of `seq`, up to its head. */
  async slice(rows: readonly AuditedJournalRow[]): Promise<void> {
    const { seq: to = 0, recorded_at: now = 0 } = rows.at(-1) ?? {};
    for await (const summaries of this.#rows.between(this.#readTo, to)) {
      await this.#openAll(summaries);
      this.#readTo = summaries.at(-1)?.seq;
    }
    const strays: AuditedMovementRow[] = [];
    for (const row of rows) {
      this.#ends.row(row);
      if (!isMovement(row)) continue;
      const opened = this.#open.get(row.transaction_id);
      if (opened === undefined) strays.push(row);
      else opened.rows.push(row);
      if (opened !== undefined && isLastKind(row.kind)) this.#ended.add(opened);
    }
    // After the loop, because a wrong row could follow the last one.
    for (const transaction of this.#ended) {
      if (isOver(transaction, now)) this.#close(transaction);
    }
    if (strays.length > 0) await this.#addStrays(strays, to);
  }

  /** Called once, after the last row. */
  async end(): Promise<void> {
    const begun = [...this.#open.values()].filter(({ rows }) => rows.length > 0);
    const current = await this.#rows.withIds(begun.map(({ summary: { id } }) => id));
    if (current.size > 0) {
      for await (const row of newerRows(this.#audit, this.#book.row)) {
        this.#ends.row(row);
        if (!isMovement(row)) continue;
        const { transaction_id: id, seq } = row;
        if (seq <= (current.get(id)?.book_seq ?? 0)) this.#open.get(id)?.rows.push(row);
      }
    }
    for (const { summary, rows } of this.#open.values()) {
      this.#close({ summary: current.get(summary.id) ?? summary, rows });
    }
  }

  async #openAll(summaries: readonly AuditedTransactionRow[]): Promise<void> {
    this.#audit.coverage.transactions += summaries.length;
    for (const summary of summaries) {
      if (!this.#open.has(summary.id)) this.#open.set(summary.id, { summary, rows: [] });
      this.#onTransaction(summary);
    }
    const linked = summaries.filter(hasLink).map(({ id }) => id);
    if (linked.length > 0) await auditCorrections(this.#audit, this.#book, linked);
  }

  /** Adds findings on rows of the journal that belong to no open transaction. None is right. */
  async #addStrays(strays: readonly AuditedMovementRow[], to: number): Promise<void> {
    const { findings } = this.#book;
    const ids = new Set(strays.map(({ transaction_id: id }) => id));
    const summaries = await this.#rows.withIds([...ids]);
    for (const row of strays) {
      const { seq, transaction_id: id, kind } = row;
      const summary = summaries.get(id);
      const opened = this.#open.get(id);
      if (opened !== undefined) opened.rows.push(row);
      else if (!findings.isThere({ seq, table: "transactions", id }, summary, "a row")) continue;
      else if (summary.seq > to) this.#open.set(id, { summary, rows: [row] });
      else findings.onRow(row, "no row of a transaction that has ended", kind, id);
    }
  }

  #close(transaction: OpenTransaction): void {
    const { summary, rows } = transaction;
    const { id } = summary;
    this.#open.delete(id);
    this.#ended.delete(transaction);
    guarded(this.#book.findings, { seq: undefined, table: "transactions", id }, () => {
      const check = new TransactionCheck(summary, this.#book, this.#ends);
      for (const row of rows) check.row(row);
      check.end();
    });
  }
}

const COLUMNS = `
  t.id, t.seq, t.account_id, t.type, t.status, t.status_reason, t.amount_cents, t.reference, t.description, t.metadata,
  t.rail, t.rail_movement, t.rail_receipt, t.failure, t.open_flags, t.held_for, t.later_failure,
  t.corrects_id, t.correction, t.deposit_id, t.destination_id,
  d.kind AS destination_kind, d.account_id AS destination_account_id, d.usable_at AS destination_usable_at, t.reversed_by_id, t.created_at, t.updated_at, t.completed_at, ${PAYMENT_COLUMNS}`;

function hasLink({ corrects_id, correction, reversed_by_id }: AuditedTransactionRow): boolean {
  return corrects_id !== null || correction !== null || reversed_by_id !== null;
}

/**
 * Returns whether all rows of an ended transaction were seen, if the journal was read up to `now`.
 * Only a rail can report something after the end, and `updated_at` is the time of the last row.
 */
function isOver({ summary: { rail, updated_at: updatedAt } }: OpenTransaction, now: number): boolean {
  return rail === DIRECT_RAIL || updatedAt < now;
}

function isMovement(row: AuditedJournalRow): row is AuditedMovementRow {
  return row.transaction_id !== null;
}
