import type { RowOf } from "../../model/column.js";
import type { JOURNAL } from "../../model/transactions.js";
import type { Audit } from "../audit.js";
import { slicesAlongSeq } from "../slices.js";

/** A row of the journal, with its hash in hexadecimal. Its values may be invalid. */
export type AuditedJournalRow = Omit<RowOf<typeof JOURNAL, string>, "book">;

/** Reads the rows of a book after the seq `after`, or all, up to the seq `upTo`. */
export function journalSlices(
  audit: Audit,
  book: number,
  { after, upTo }: { readonly after?: number; readonly upTo: number },
): AsyncGenerator<readonly AuditedJournalRow[], void, void> {
  const { table, hex } = audit.engine;
  return slicesAlongSeq<AuditedJournalRow>(audit, {
    sql: `
      SELECT seq, previous_seq, account_id, transaction_id, freeze_id, kind, debit, credit, amount_cents,
        available_after_cents, held_after_cents, detail, rail_receipt, actor, reason, recorded_at,
        alone_by, alone_cents, ${hex("content_hash")} AS content_hash
      FROM ${table("journal")} j WHERE j.book = ? AND j.seq <= ? ${after === undefined ? "" : "AND j.seq > ?"}`,
    bindings: [book, upTo, ...(after === undefined ? [] : [after])],
    alias: "j",
  });
}

/** Reads the rows that were committed to a book after the audit of it began. */
export async function* newerRows(
  audit: Audit,
  { number, head }: { readonly number: number; readonly head: number | null },
): AsyncGenerator<AuditedJournalRow, void, void> {
  const sql = `SELECT MAX(seq) AS head FROM ${audit.engine.table("journal")} WHERE book = ?`;
  const [now] = await audit.rows<{ readonly head: number | null }>(sql, [number]);
  const range = { upTo: now?.head ?? 0, ...(head === null ? {} : { after: head }) };
  for await (const rows of journalSlices(audit, number, range)) yield* rows;
}
