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
   * Starts a SELECT with one `?` for each binding. Several streams may be open at once.
   */
  rows<Row>(sql: string, bindings?: readonly Binding[]): RowStream<Row>;
}
