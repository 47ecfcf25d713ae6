import type { OrganizationId } from "../../domain/values/ids.js";
import type { OpenPart, PayoutStore } from "../../payouts/ports.js";
import type { Cell } from "../database.js";
import { UnreadableRowError } from "../secrets/unreadable-row.js";
import type { OpenBook } from "../sql/book-directory.js";
import type { PayoutFileRow } from "../sql/records/payout-file-rows.js";
import { orStoreError, runAlone } from "../sql/store-error.js";
import { itemsOfPart, outcomesText, type PayoutPartRow, wholeFileOf } from "./payout-rows.js";

type StoreCell = Pick<Cell, "engine" | "directory" | "transact"> & {
  readonly reader: Pick<Cell["reader"], "rows">;
};

type OpenPartRow = PayoutFileRow &
  Pick<PayoutPartRow, "part" | "sealed"> & { readonly organization_id: OrganizationId };

/** Implements the port `PayoutStore` for one cell. `onChanged` gets the id of a changed file. */
export function payoutStore(
  { engine, directory, transact, reader }: StoreCell,
  onChanged: (sha256: string) => void,
): PayoutStore {
  const sql = storeStatements(engine);
  return {
    async open() {
      const rows = await orStoreError(engine, reader.rows<OpenPartRow>(sql.open, []));
      const open: OpenPart[] = [];
      for (const row of rows) {
        const finding = directory.book(row.organization_id, (read) => reader.rows(read.sql, read.bindings));
        const book = await orStoreError(engine, finding);
        const part = openPartOf(row, book);
        if (part === undefined) onChanged(row.sha256);
        else open.push(part);
      }
      return open;
    },
    async finish({ file: { organizationId, rowsSha256 }, part }, refused) {
      const bindings = [outcomesText(refused), rowsSha256, part, organizationId];
      await runAlone({ engine, transact }, { sql: sql.finish, bindings });
    },
    async removeUnapproved(before) {
      await runAlone({ engine, transact }, { sql: sql.remove, bindings: [before] });
    },
  };
}

/** Returns the part, or undefined if somebody has changed it or its file past the service. */
function openPartOf(row: OpenPartRow, book: OpenBook): OpenPart | undefined {
  try {
    const file = wholeFileOf(row, book);
    return file && { file, part: row.part, items: itemsOfPart(row, book) };
  } catch (error) {
    if (error instanceof UnreadableRowError) return undefined;
    throw error;
  }
}

function storeStatements({ table }: Pick<Cell["engine"], "table">) {
  const parts = table("payout_parts");
  return {
    // The partial index has the parts that have not run. There are few, or none.
    open: `
      SELECT f.*, b.organization_id, p.part, p.sealed
      FROM (
        SELECT book, rows_sha256, MIN(part) AS part FROM ${parts}
        WHERE part > 0 AND outcomes IS NULL GROUP BY book, rows_sha256
      ) o
      JOIN ${parts} p ON p.book = o.book AND p.rows_sha256 = o.rows_sha256 AND p.part = o.part
      JOIN ${table("payout_files")} f
        ON f.book = p.book AND f.sha256 = p.file_sha256 AND f.rows_sha256 = p.rows_sha256
      JOIN ${table("books")} b ON b.number = p.book
      ORDER BY f.approved_at`,
    finish: `
      UPDATE ${parts} SET outcomes = ? WHERE rows_sha256 = ? AND part = ? AND outcomes IS NULL
        AND book = (SELECT b.number FROM ${table("books")} b WHERE b.organization_id = ?)
      RETURNING part`,
    remove: `
      DELETE FROM ${parts} WHERE stored_at < ? AND NOT EXISTS (
        SELECT 1 FROM ${table("payout_files")} f
        WHERE f.book = payout_parts.book AND f.sha256 = payout_parts.file_sha256
          AND f.rows_sha256 = payout_parts.rows_sha256
      ) RETURNING part`,
  };
}
