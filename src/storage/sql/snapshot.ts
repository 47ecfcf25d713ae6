import type { Binding } from "./engine.js";

/** The rows of one SELECT, in order. It keeps a bounded number of rows in memory. */
export interface RowStream<Row> {
  /** Returns the next row, or undefined after the last. */
  next(): Promise<Row | undefined>;
}

/** One cell of the database at one moment. */
export interface Snapshot {
  /** Returns the name of a table, with its schema. */
  readonly table: (name: string) => string;
  /**
   * The clause after a text column in ORDER BY. It sorts as JavaScript compares strings,
   * independent of the database's locale.
   */
  readonly byCodeUnit: string;
  /**
   * Returns an expression: the bytes of a column in hexadecimal. The driver of SQLite reads text
   * faster than bytes.
   */
  readonly hex: (column: string) => string;
  /**
   * Starts a SELECT with one `?` for each binding. Several streams may be open at once.
   */
  rows<Row>(sql: string, bindings?: readonly Binding[]): RowStream<Row>;
}
