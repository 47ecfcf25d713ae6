import type { Audit } from "../../audit.js";
import type { Place } from "../../findings.js";
import { guarded } from "../../guarded.js";
import { slices } from "../../slices.js";
import type { AuditedBook } from "../book.js";
import { type JournalRow, newerRows } from "../journal-rows.js";
import { auditCorrections } from "./corrections.js";
import { isLastKind, TransactionCheck, type TransactionRow } from "./transaction-check.js";

/** A transaction whose last row of the journal was not seen yet. */
interface OpenTransaction {
  readonly summary: TransactionRow;
  readonly rows: JournalRow[];
}

interface MovementRow extends JournalRow {
  readonly transaction_id: string;
}

/**
 * Compares the transactions of one book with the journal. Both are read along `seq`, so only the
 * transactions that are pending stay in memory.
 */
export class TransactionsAudit {
  readonly #audit: Audit;
  readonly #book: AuditedBook;
  readonly #open = new Map<string, OpenTransaction>();
  /** The seq up to which `transactions` was read. */
  #readTo: number | undefined;

  constructor(audit: Audit, book: AuditedBook) {
    this.#audit = audit;
    this.#book = book;
  }

  /**
   * Called once, before the first row. Opens the transactions that claim to be newer than the whole
   * journal. One statement reads both tables, and so takes no new transaction for a wrong one.
   */
  async begin(): Promise<void> {
    const last = `(SELECT COALESCE(MAX(j.seq), 0) FROM ${this.#audit.engine.table("journal")} j WHERE j.book = ?)`;
    for await (const summaries of this.#summaries(`t.seq > ${last}`, this.#book.row.number)) {
      await this.#openAll(summaries);
    }
  }

  /** Takes the rows of the book in the order of `seq`, up to its head. */
  async slice(rows: readonly JournalRow[]): Promise<void> {
    const to = rows.at(-1)?.seq ?? 0;
    for await (const summaries of this.#summaries("t.seq <= ?", to)) {
      await this.#openAll(summaries);
      this.#readTo = summaries.at(-1)?.seq;
    }
    const ended = new Set<OpenTransaction>();
    const strays: MovementRow[] = [];
    for (const row of rows) {
      if (!isMovement(row)) continue;
      const opened = this.#open.get(row.transaction_id);
      if (opened === undefined) strays.push(row);
      else opened.rows.push(row);
      if (opened !== undefined && isLastKind(row.kind)) ended.add(opened);
    }
    // After the loop, because a wrong row could follow the last one.
    for (const transaction of ended) this.#close(transaction);
    if (strays.length > 0) await this.#addStrays(strays, to);
  }

  /** Called once, after the last row. */
  async end(): Promise<void> {
    for (const transaction of this.#open.values()) {
      if (!hasMoved(transaction)) this.#close(transaction);
    }
    if (this.#open.size === 0) return;
    for await (const row of newerRows(this.#audit, this.#book.row)) {
      if (isMovement(row)) this.#open.get(row.transaction_id)?.rows.push(row);
    }
    for (const transaction of this.#open.values()) this.#close(transaction);
  }

  async #openAll(summaries: readonly TransactionRow[]): Promise<void> {
    this.#audit.coverage.transactions += summaries.length;
    for (const summary of summaries) {
      if (!this.#open.has(summary.id)) this.#open.set(summary.id, { summary, rows: [] });
    }
    const linked = summaries.filter(hasLink).map(({ id }) => id);
    if (linked.length > 0) await auditCorrections(this.#audit, this.#book, linked);
  }

  #summaries(condition: string, binding: number): AsyncGenerator<readonly TransactionRow[], void, void> {
    const after = this.#readTo;
    return slices<TransactionRow>(this.#audit, {
      sql: `${this.#select} WHERE t.book = ? AND ${condition} ${after === undefined ? "" : "AND t.seq > ?"}`,
      bindings: [this.#book.row.number, binding, ...(after === undefined ? [] : [after])],
      key: "t.seq",
      keyOf: ({ seq }) => seq,
    });
  }

  /** Adds findings on rows of the journal that belong to no open transaction. None is right. */
  async #addStrays(strays: readonly MovementRow[], to: number): Promise<void> {
    const ids = [...new Set(strays.map(({ transaction_id: id }) => id))];
    const found = await this.#audit.rows<TransactionRow>(
      `${this.#select} WHERE t.book = ? AND t.id IN (SELECT value FROM ${this.#audit.engine.jsonItems("?")})`,
      [this.#book.row.number, JSON.stringify(ids)],
    );
    const summaries = new Map(found.map((summary) => [summary.id, summary]));
    for (const row of strays) {
      const { seq, transaction_id: id, kind } = row;
      const summary = summaries.get(id);
      const opened = this.#open.get(id);
      if (opened !== undefined) opened.rows.push(row);
      else if (summary === undefined) this.#add({ seq, table: "transactions", id }, "a row", "none");
      else if (summary.seq > to) this.#open.set(id, { summary, rows: [row] });
      else this.#add({ seq, table: "journal", id }, "no row of a transaction that has ended", kind);
    }
  }

  #close({ summary, rows }: OpenTransaction): void {
    const { id } = summary;
    this.#open.delete(id);
    guarded(this.#book.findings, { seq: undefined, table: "transactions", id }, () => {
      const check = new TransactionCheck(summary, this.#book);
      for (const row of rows) check.row(row);
      check.end();
    });
  }

  #add(place: Place, expected: string, found: string): void {
    this.#book.findings.add(place, { expected, found });
  }

  get #select(): string {
    return `
      SELECT t.id, t.seq, t.account_id, t.type, t.status, t.status_reason, t.amount_cents, t.reference, t.description,
        t.metadata, t.rail, t.corrects_id, t.correction, t.reversed_by_id, t.created_at, t.updated_at, t.completed_at
      FROM ${this.#audit.engine.table("transactions")} t`;
  }
}

function hasLink({ corrects_id, correction, reversed_by_id }: TransactionRow): boolean {
  return corrects_id !== null || correction !== null || reversed_by_id !== null;
}

/** Returns whether a server may have ended the transaction after the audit of the book began. */
function hasMoved({ summary, rows }: OpenTransaction): boolean {
  return rows.length > 0 && summary.status !== "PENDING";
}

function isMovement(row: JournalRow): row is MovementRow {
  return row.transaction_id !== null;
}
