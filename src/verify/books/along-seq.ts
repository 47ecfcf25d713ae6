import type { Binding } from "../../storage/sql/engine.js";
import type { Audit } from "../audit.js";
import { rowsWithIds, slicesAlongSeq } from "../slices.js";
import type { AuditedBook } from "./book.js";

/** The rows of a table, with columns of other tables. One statement reads all of them. */
interface JoinedTable {
  /** What the SELECT calls the table. */
  readonly alias: string;
  readonly columns: string;
  readonly tables: string;
}

/** A row and the last row of its book, of one moment. */
type CurrentRow<Row> = Row & { readonly book_seq: number };

/** Reads the rows of one book in a table that is audited along `seq`, together with the journal. */
export class RowsAlongSeq<Row extends { readonly id: string; readonly seq: number }> {
  readonly #audit: Audit;
  readonly #book: number;
  readonly #joined: JoinedTable;

  constructor(audit: Audit, { row: { number } }: AuditedBook, joined: JoinedTable) {
    this.#audit = audit;
    this.#book = number;
    this.#joined = joined;
  }

  /**
   * Reads the rows that claim to be newer than the whole journal. One statement reads both tables,
   * and so takes no new row for a wrong one.
   */
  newerThanJournal(): AsyncGenerator<readonly Row[], void, void> {
    return this.#slices(`> ${this.#lastOf("?")}`, [this.#book]);
  }

  /** Reads the rows after `afterSeq`, or all, up to `toSeq`. */
  between(afterSeq: number | undefined, toSeq: number): AsyncGenerator<readonly Row[], void, void> {
    if (afterSeq === undefined) return this.#slices("<= ?", [toSeq]);
    return this.#slices(`<= ? AND ${this.#joined.alias}.seq > ?`, [toSeq, afterSeq]);
  }

  /**
   * Reads rows again. A server may have changed them after the audit of the book began, and they do
   * not say which row of the journal they reflect.
   */
  async withIds(ids: readonly string[]): Promise<ReadonlyMap<string, CurrentRow<Row>>> {
    const { alias, columns, tables } = this.#joined;
    const head = this.#lastOf(`${alias}.book`);
    const sql = `SELECT ${columns}, ${head} AS book_seq FROM ${tables} WHERE ${alias}.book = ? AND ${alias}.id`;
    const rows = new Map<string, CurrentRow<Row>>();
    const found = rowsWithIds<CurrentRow<Row>>(this.#audit, { sql, bindings: [this.#book] }, ids);
    for await (const row of found) rows.set(row.id, row);
    return rows;
  }

  #slices(condition: string, bindings: readonly Binding[]): AsyncGenerator<readonly Row[], void, void> {
    const { alias, columns, tables } = this.#joined;
    const sql = `SELECT ${columns} FROM ${tables} WHERE ${alias}.book = ? AND ${alias}.seq ${condition}`;
    return slicesAlongSeq<Row>(this.#audit, { sql, bindings: [this.#book, ...bindings], alias });
  }

  #lastOf(book: string): string {
    return `(SELECT COALESCE(MAX(j.seq), 0) FROM ${this.#audit.engine.table("journal")} j WHERE j.book = ${book})`;
  }
}
