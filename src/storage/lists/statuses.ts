import type { Condition } from "./page.js";

/** Returns the condition of a filter by status. */
export function statusIn(statuses: readonly string[] | undefined): Condition[] {
  if (statuses === undefined) return [];
  return [[`status IN (${statuses.map(() => "?").join(", ")})`, ...statuses]];
}

interface RowsByStatus {
  readonly columns: string;
  /** The tables, read along an index that has the status before `seq`. */
  readonly from: string;
  /** A condition. It repeats that of a partial index: engines use the index only then. */
  readonly where: string;
  /** The column `seq` of the index. */
  readonly seq: string;
}

/**
 * Returns a table expression with the rows that have one of the statuses. Both engines merge its
 * parts in the order of `seq`, and read no row that a page does not need. With `status IN (…)` they
 * would sort all rows.
 *
 * PostgreSQL knows the order of a part only from its ORDER BY. SQLite leaves it out.
 */
export function withStatuses(statuses: readonly string[], { columns, from, where, seq }: RowsByStatus): string {
  // The statuses are names of the domain and no texts of a caller.
  const parts = statuses.map(
    (status) =>
      `SELECT * FROM (SELECT ${columns} FROM ${from} WHERE ${where} AND status = '${status}' ORDER BY ${seq} DESC) AS part`,
  );
  return `(${parts.join(" UNION ALL ")})`;
}
