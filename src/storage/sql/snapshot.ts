/** Rows of one SELECT, one after the other. Holds a bounded number of them in memory. */
export interface RowStream<Row> {
  /** The next row; undefined after the last. */
  next(): Promise<Row | undefined>;
}

/** The database as it was at one moment. */
export interface Snapshot {
  /**
   * Stands behind a column of texts in ORDER BY: orders as JavaScript compares, whatever the
   * database's locale is.
   */
  readonly byCodeUnit: string;
  /** Several streams may be open at once. */
  rows<Row>(sql: string): RowStream<Row>;
}
