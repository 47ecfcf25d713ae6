import type { TransactionId } from "../../domain/values/ids.js";
import { toUnixMillis, type UnixMillis } from "../../domain/values/time.js";
import { NEEDS_ATTENTION } from "../../model/transactions.js";
import type { CappedCount, Looked, WaitingInBook } from "../../statements/ports.js";
import type { ListReader } from "../lists/page.js";
import type { Engine } from "../sql/engine.js";
import { IS_UNALLOCATED } from "../sql/records/deposit-rows.js";
import type { TransactionRow } from "../sql/records/transaction-rows.js";

const COUNT_MAX = 1_000;
const HOUR_MILLIS = 3_600_000;
const OPEN_STATUSES = ["PENDING", "PROCESSING"];

type OldestRow = Pick<TransactionRow, "id" | "created_at">;

/** Counts what waits for a person in a book. Each count looks at 1,001 rows at most. */
export async function waitingIn(
  reader: ListReader,
  engine: Engine,
  { book, now }: { readonly book: number; readonly now: UnixMillis },
): Promise<Looked<WaitingInBook>> {
  const { table, indexedBy } = engine;
  const counted = async (from: string): Promise<number> => {
    const sql = `SELECT COUNT(*) AS count FROM (SELECT 1 FROM ${from} LIMIT ?) AS looked_at`;
    const [row] = await reader.rows<{ readonly count: number }>(sql, [book, COUNT_MAX + 1]);
    return row?.count ?? 0;
  };
  const flagged = await counted(
    `${table("transactions")} t${indexedBy("transactions_attention")} WHERE t.book = ? AND ${NEEDS_ATTENTION}`,
  );
  const deposits = await counted(
    `${table("deposits")} d${indexedBy("deposits_unallocated")} WHERE d.book = ? AND ${IS_UNALLOCATED}`,
  );
  let old = 0;
  const open: OldestRow[] = [];
  for (const status of OPEN_STATUSES) {
    // The order of the rows is that of their times, so the oldest come first.
    const rows = `${table("transactions")} t${indexedBy("transactions_not_completed")}
      WHERE t.book = ? AND t.status <> 'COMPLETED' AND t.status = ? ORDER BY t.seq LIMIT ?`;
    const [row] = await reader.rows<{ readonly old: number }>(
      `SELECT COUNT(CASE WHEN created_at <= ? AND held_for IS NULL THEN 1 END) AS old
       FROM (SELECT t.created_at, t.held_for FROM ${rows}) AS looked_at`,
      [now - HOUR_MILLIS, book, status, COUNT_MAX + 1],
    );
    old += row?.old ?? 0;
    open.push(...(await reader.rows<OldestRow>(`SELECT t.id, t.created_at FROM ${rows}`, [book, status, 1])));
  }
  const [oldest] = open.sort((one, other) => one.created_at - other.created_at);
  return {
    result: {
      flagged: atMost(flagged),
      deposits: atMost(deposits),
      oldOpenPayments: atMost(old),
      oldestOpenPayment: oldest && { id: oldest.id as TransactionId, createdAt: toUnixMillis(oldest.created_at) },
    },
    lookedAt: flagged + deposits + (COUNT_MAX + 2) * OPEN_STATUSES.length,
  };
}

function atMost(count: number): CappedCount {
  return { count: Math.min(count, COUNT_MAX), hasMore: count > COUNT_MAX };
}
