import type { JournalKind } from "../../domain/journal.js";
import type { Audit } from "../audit.js";
import { guarded } from "../guarded.js";
import { slices } from "../slices.js";
import type { AuditedBook } from "./book.js";
import { type AuditedJournalRow, newerRows } from "./journal-rows.js";

/** The rules of things that one row of the journal begins, and at most one ends. */
interface BegunAndEndedRules<Summary> {
  readonly table: "freezes" | "destinations";
  readonly begun: JournalKind;
  readonly ended: JournalKind;
  /** Returns the id of the thing that a row is about. Null if it is about none. */
  readonly idOf: (row: AuditedJournalRow) => string | null;
  /** Returns when it ended. Null while it stands. */
  readonly endedAt: (summary: Summary) => number | null;
  /** Compares a row of the table with the rows of the journal. Undefined if the table has none. */
  readonly compare: (id: string, rows: readonly AuditedJournalRow[], summary: Summary | undefined) => void;
}

/** Compares each row of such a table of one book with its rows in the journal. */
export class BegunAndEndedAudit<Summary extends { readonly id: string; readonly seq: number }> {
  readonly #audit: Audit;
  readonly #book: AuditedBook;
  readonly #rules: BegunAndEndedRules<Summary>;
  /** The rows up to the head, by the id of the thing. */
  readonly #rows = new Map<string, AuditedJournalRow[]>();

  constructor(audit: Audit, book: AuditedBook, rules: BegunAndEndedRules<Summary>) {
    this.#audit = audit;
    this.#book = book;
    this.#rules = rules;
  }

  get table(): BegunAndEndedRules<Summary>["table"] {
    return this.#rules.table;
  }

  row(row: AuditedJournalRow): void {
    const id = this.#rules.idOf(row);
    if (id === null) return;
    const rows = this.#rows.get(id);
    if (rows === undefined) this.#rows.set(id, [row]);
    else rows.push(row);
  }

  async end(): Promise<void> {
    const { idOf, begun, endedAt } = this.#rules;
    const newer = new Map<string, Summary>();
    for await (const summaries of this.#summaries()) {
      for (const summary of summaries) {
        if (this.#isNewer(summary)) newer.set(summary.id, summary);
        else this.#check(summary.id, summary);
      }
    }
    if (newer.size > 0) {
      for await (const row of newerRows(this.#audit, this.#book.row)) {
        const summary = newer.get(idOf(row) ?? "");
        // A row that ends it may be newer than the summary.
        if (summary !== undefined && (row.kind === begun || endedAt(summary) !== null)) this.row(row);
      }
      for (const [id, summary] of newer) this.#check(id, summary);
    }
    for (const id of this.#rows.keys()) this.#check(id, undefined);
  }

  /** Whether the summary reflects a row of the journal after the head. */
  #isNewer(summary: Summary): boolean {
    if (summary.seq > (this.#book.row.head ?? 0)) return true;
    const { ended, endedAt } = this.#rules;
    return endedAt(summary) !== null && this.#rows.get(summary.id)?.some(({ kind }) => kind === ended) !== true;
  }

  #check(id: string, summary: Summary | undefined): void {
    const rows = this.#rows.get(id) ?? [];
    this.#rows.delete(id);
    guarded(this.#book.findings, { seq: undefined, table: this.table, id }, () => {
      this.#rules.compare(id, rows, summary);
    });
  }

  #summaries(): AsyncGenerator<readonly Summary[], void, void> {
    return slices<Summary>(this.#audit, {
      sql: `SELECT * FROM ${this.#audit.engine.table(this.table)} WHERE book = ?`,
      bindings: [this.#book.row.number],
      key: "seq",
      keyOf: ({ seq }) => seq,
    });
  }
}
