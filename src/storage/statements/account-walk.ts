import type { AccountId } from "../../domain/values/ids.js";
import type { RowOf } from "../../model/column.js";
import type { JOURNAL } from "../../model/transactions.js";
import type { Engine, Read } from "../sql/engine.js";

/** The maximum number of rows that one step of a walk looks at. */
export const WALK_MAX = 256;

/** A row that a walk looked at. */
export type WalkedSqlRow = Pick<RowOf<typeof JOURNAL>, "seq" | "previous_seq" | "kind" | "recorded_at"> &
  Readonly<Record<"available_after_cents" | "held_after_cents" | "looked_at", number>>;

interface Walk {
  readonly book: number;
  readonly accountId: AccountId;
  /** An expression: the `seq` at which the walk begins. */
  readonly start: Read;
  /** A condition on the row `walk`: as long as it holds, the walk goes on. */
  readonly goesOn: Read;
}

/**
 * Returns a SELECT of the last row that the walk looks at: the row where `goesOn` does not hold, or
 * the first row of the account, or the row at which the next step must begin. No row if the walk
 * does not begin at a row of the account.
 */
export function lastOfWalk({ table }: Engine, { book, accountId, start, goesOn }: Walk): Read {
  const columns = "j.seq, j.previous_seq, j.kind, j.available_after_cents, j.held_after_cents, j.recorded_at";
  return {
    sql: `
      WITH RECURSIVE walk AS (
        SELECT ${columns}, 1 AS looked_at FROM ${table("journal")} j
        WHERE j.book = ? AND j.seq = (${start.sql}) AND j.account_id = ?
        UNION ALL
        SELECT ${columns}, walk.looked_at + 1 FROM walk CROSS JOIN ${table("journal")} j
        WHERE j.book = ? AND j.seq = walk.previous_seq AND (${goesOn.sql}) AND walk.looked_at < ?
      )
      SELECT * FROM walk ORDER BY looked_at DESC LIMIT 1`,
    bindings: [book, ...start.bindings, accountId, book, ...goesOn.bindings, WALK_MAX],
  };
}

/** Returns an expression: the account's newest row. */
export function newestRow({ table }: Engine, { book, accountId }: Pick<Walk, "book" | "accountId">): Read {
  return {
    sql: `SELECT a.last_seq FROM ${table("accounts")} a WHERE a.id = ? AND a.book = ?`,
    bindings: [accountId, book],
  };
}

/** Returns an expression: the nearest mark at or past a row, or else the account's newest row. */
export function nearestMark(
  engine: Engine,
  { book, accountId, seq }: Pick<Walk, "book" | "accountId"> & { readonly seq: number },
): Read {
  const newest = newestRow(engine, { book, accountId });
  const mark = `
    SELECT m.seq FROM ${engine.table("account_marks")} m
    WHERE m.account_id = ? AND m.book = ? AND m.seq >= ? ORDER BY m.seq LIMIT 1`;
  return {
    sql: `SELECT COALESCE((${mark}), (${newest.sql}))`,
    bindings: [accountId, book, seq, ...newest.bindings],
  };
}
