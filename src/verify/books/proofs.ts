import type { ModelName } from "../../model/tables.js";
import type { Audit } from "../audit.js";
import { slices } from "../slices.js";
import type { AuditedBook } from "./book.js";

/** A receipt or a movement, and the rows of the book that have it. */
interface ProofRow {
  readonly proof: string;
  readonly first_seq: number;
  readonly last_seq: number;
}

/** Checks that a book has no receipt and no movement of a rail twice. */
export async function auditProofs(audit: Audit, book: AuditedBook): Promise<void> {
  await auditOnce(audit, book, { table: "journal", column: "rail_receipt" });
  await auditOnce(audit, book, { table: "transactions", column: "rail_movement" });
}

/** The unique index of the column gives the groups in its order, so nothing is sorted. */
async function auditOnce(
  audit: Audit,
  { row: { number }, findings }: AuditedBook,
  { table, column }: { readonly table: ModelName; readonly column: string },
): Promise<void> {
  const all = slices<ProofRow>(audit, {
    sql: `
      SELECT ${column} AS proof, MIN(seq) AS first_seq, MAX(seq) AS last_seq
      FROM ${audit.engine.table(table)} WHERE book = ? AND ${column} IS NOT NULL`,
    groupBy: `GROUP BY ${column}`,
    bindings: [number],
    key: column,
    keyOf: ({ proof }) => proof,
  });
  for await (const rows of all) {
    for (const { first_seq: first, last_seq: last } of rows) {
      if (first === last) continue;
      const found = `the one of seq ${String(first)} again`;
      findings.add({ seq: last, table, id: undefined }, { expected: `another ${column}`, found });
    }
  }
}
