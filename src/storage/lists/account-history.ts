import type { AccountId } from "../../domain/values/ids.js";
import type { Page, PageRequest } from "../../ledger/ports/reads.js";
import type { Engine } from "../sql/engine.js";
import { type ReadTransactionRow, withBalanceAfter } from "../sql/records/transaction-rows.js";
import { bindingsOf, type Condition, type ListReader, LOOKED_AT_MAX, pageOf } from "./page.js";

export interface AccountHistory {
  readonly book: number;
  readonly accountId: AccountId;
  /** The walk ends before the rows with a smaller `seq`. */
  readonly fromSeq: number;
  /** Conditions on the transaction `t`. */
  readonly matching: readonly Condition[];
  readonly page: PageRequest;
}

/** A row of the journal that the walk looked at, with its transaction if that is on the page. */
type HistoryRow = { readonly walked_seq: number; readonly looked_at: number } & (
  ReadTransactionRow | { readonly id: null }
);

/**
 * Reads one page of an account's transactions, newest first. Walks back along the account's rows in
 * the journal, from its newest row or from the end of the last page. The walk stops when the page
 * is full, or after the maximum number of rows. Only the rows of the page are sorted.
 */
export async function accountHistoryPage(
  reader: ListReader,
  engine: Engine,
  { book, accountId, fromSeq, matching, page }: AccountHistory,
): Promise<Page<ReadTransactionRow>> {
  const { table } = engine;
  const start =
    page.beforeSeq === undefined
      ? { sql: `SELECT last_seq FROM ${table("accounts")} WHERE id = ? AND book = ?`, bindings: [] }
      : {
          sql: `SELECT previous_seq FROM ${table("journal")} WHERE account_id = ? AND book = ? AND seq = ?`,
          bindings: [page.beforeSeq],
        };
  const isHit = ["t.seq IS NOT NULL", ...matching.map(([condition]) => condition)].join(" AND ");
  const sql = `
    WITH RECURSIVE walk (seq, previous_seq, looked_at, hit, hits_before) AS (
      SELECT CAST(0 AS BIGINT), (${start.sql}), 0, 0, 0
      UNION ALL
      SELECT j.seq, j.previous_seq, walk.looked_at + 1, CASE WHEN ${isHit} THEN 1 ELSE 0 END, walk.hits_before + walk.hit
      FROM walk CROSS JOIN ${table("journal")} j LEFT JOIN ${table("transactions")} t ON t.book = j.book AND t.seq = j.seq
      WHERE j.book = ? AND j.seq = walk.previous_seq AND j.seq >= ?
        AND walk.hits_before + walk.hit < ? AND walk.looked_at < ?
    )
    SELECT walk.seq AS walked_seq, walk.looked_at, ${withBalanceAfter(engine)}
    FROM walk LEFT JOIN ${table("transactions")} t ON walk.hit = 1 AND t.book = ? AND t.seq = walk.seq
    WHERE walk.hit = 1 OR walk.looked_at = ? ORDER BY walk.seq DESC`;
  const walked = await reader.rows<HistoryRow>(sql, [
    accountId,
    book,
    ...start.bindings,
    ...bindingsOf(matching),
    book,
    fromSeq,
    page.size + 1,
    LOOKED_AT_MAX,
    book,
    LOOKED_AT_MAX,
  ]);
  const found = walked.filter((row): row is HistoryRow & ReadTransactionRow => row.id !== null);
  const last = walked.at(-1);
  const lookedAt = last?.looked_at ?? 0;
  return { ...pageOf(found, page, lookedAt === LOOKED_AT_MAX ? last?.walked_seq : undefined), lookedAt };
}
