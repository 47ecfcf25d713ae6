import type { BookAccount, JournalKind } from "../../domain/journal.js";
import { toCents } from "../../domain/values/cents.js";
import type { AccountId, FreezeId, TransactionId } from "../../domain/values/ids.js";
import { toUnixMillis } from "../../domain/values/time.js";
import type { RowOf } from "../../model/column.js";
import type { JOURNAL } from "../../model/transactions.js";
import type { AccountJournalRow, Looked } from "../../statements/ports.js";
import type { ListReader } from "../lists/page.js";
import type { Engine } from "../sql/engine.js";
import { newestRow } from "./account-walk.js";

/** A row of the journal about an account. */
type AccountJournalSqlRow = RowOf<typeof JOURNAL> &
  Readonly<Record<"available_after_cents" | "held_after_cents", number>>;

interface AccountRowsRequest {
  readonly book: number;
  readonly accountId: AccountId;
  readonly beforeSeq: number | undefined;
  readonly size: number;
}

/**
 * Reads rows of an account, newest first. Walks back along their links, so it looks at no row of
 * another account.
 */
export async function accountRowsPage(
  reader: ListReader,
  engine: Engine,
  { book, accountId, beforeSeq, size }: AccountRowsRequest,
): Promise<Looked<readonly AccountJournalRow[]>> {
  const { table } = engine;
  const journal = table("journal");
  const start =
    beforeSeq === undefined
      ? newestRow(engine, { book, accountId })
      : { sql: `SELECT l.previous_seq FROM ${journal} l WHERE l.book = ? AND l.seq = ?`, bindings: [book, beforeSeq] };
  const sql = `
    WITH RECURSIVE walk AS (
      SELECT j.*, 1 AS looked_at FROM ${journal} j WHERE j.book = ? AND j.seq = (${start.sql}) AND j.account_id = ?
      UNION ALL
      SELECT j.*, walk.looked_at + 1 FROM walk CROSS JOIN ${journal} j
      WHERE j.book = ? AND j.seq = walk.previous_seq AND walk.looked_at < ?
    )
    SELECT * FROM walk ORDER BY looked_at`;
  const rows = await reader.rows<AccountJournalSqlRow>(sql, [book, ...start.bindings, accountId, book, size]);
  return { result: rows.map(accountRowOf), lookedAt: rows.length };
}

function accountRowOf(row: AccountJournalSqlRow): AccountJournalRow {
  return {
    seq: row.seq,
    previousSeq: row.previous_seq ?? undefined,
    recordedAt: toUnixMillis(row.recorded_at),
    kind: row.kind as JournalKind,
    transactionId: (row.transaction_id ?? undefined) as TransactionId | undefined,
    freezeId: (row.freeze_id ?? undefined) as FreezeId | undefined,
    debit: (row.debit ?? undefined) as BookAccount | undefined,
    credit: (row.credit ?? undefined) as BookAccount | undefined,
    amountCents: row.amount_cents === null ? undefined : toCents(row.amount_cents),
    balancesAfter: { availableCents: toCents(row.available_after_cents), heldCents: toCents(row.held_after_cents) },
    actor: row.actor,
    note: row.reason,
    contentHash: row.content_hash,
  };
}
