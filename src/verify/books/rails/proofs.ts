import type { Audit } from "../../audit.js";
import type { AuditedTable } from "../../findings.js";
import { checkGroups, type GroupKey } from "../groups.js";

/** A row of a table with a proof. */
interface ProofRow extends GroupKey {
  readonly seq: number;
  readonly proof: string;
}

/** Checks that no book has a receipt or a movement of a rail twice. */
export async function auditProofs(audit: Audit): Promise<void> {
  await auditOnce(audit, "journal", "rail_receipt");
  await auditOnce(audit, "transactions", "rail_movement");
}

async function auditOnce(audit: Audit, table: AuditedTable, column: string): Promise<void> {
  const { snapshot } = audit;
  await checkGroups<never, ProofRow>(audit, {
    table,
    summaries: { next: () => Promise.resolve(undefined) },
    rows: snapshot.rows(`
      SELECT book, seq, ${column} AS proof FROM ${snapshot.table(table)}
      WHERE ${column} IS NOT NULL ORDER BY book, ${column} ${snapshot.byCodeUnit}, seq`),
    check: ({ book: { findings } }) => {
      let before: ProofRow | undefined;
      return {
        row(row) {
          if (row.proof === before?.proof) {
            const found = `the one of seq ${String(before.seq)} again`;
            findings.add({ seq: row.seq, table, id: undefined }, { expected: `another ${column}`, found });
          }
          before = row;
        },
        end: () => undefined,
      };
    },
  });
}
