import type { Audit } from "../audit.js";
import type { PostingColumns } from "../format.js";
import { slices } from "../slices.js";
import type { HashedRow, ProofColumns } from "./content.js";

/** A row of the journal. Its values may be invalid. */
export interface AuditedJournalRow extends PostingColumns, HashedRow, ProofColumns {
  readonly previous_seq: number | null;
  readonly account_id: string | null;
  readonly transaction_id: string | null;
  readonly freeze_id: string | null;
  readonly available_after_cents: number | null;
  readonly held_after_cents: number | null;
  readonly actor: string;
  readonly reason: string;
  readonly content_hash: string;
}

/** Reads the rows of a book after the seq `after`, or all, up to the seq `upTo`. */
export function journalSlices(
  audit: Audit,
  book: number,
  { after, upTo }: { readonly after?: number; readonly upTo: number },
): AsyncGenerator<readonly AuditedJournalRow[], void, void> {
  const { table, hex } = audit.engine;
  return slices<AuditedJournalRow>(audit, {
    sql: `
      SELECT seq, previous_seq, account_id, transaction_id, freeze_id, kind, debit, credit, amount_cents,
        available_after_cents, held_after_cents, detail, rail_receipt, actor, reason, recorded_at,
        ${hex("content_hash")} AS content_hash
      FROM ${table("journal")} WHERE book = ? AND seq <= ? ${after === undefined ? "" : "AND seq > ?"}`,
    bindings: [book, upTo, ...(after === undefined ? [] : [after])],
    key: "seq",
    keyOf: ({ seq }) => seq,
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

/** Reads those of them up to the seq that a table reflects. */
export async function* newerRowsUpTo(
  audit: Audit,
  book: { readonly number: number; readonly head: number | null },
  seq: number,
): AsyncGenerator<AuditedJournalRow, void, void> {
  if (seq <= (book.head ?? 0)) return;
  for await (const row of newerRows(audit, book)) if (row.seq <= seq) yield row;
}
