import type { Cell } from "../database.js";
import { type TableColumns } from "./columns.js";
import { belongsTo, MOVED_TABLES, type MovedBook } from "./tables.js";

/** The value of a column in a file: text, a number, or bytes in hexadecimal. */
export type FileValue = string | number | null;

export interface FileRow {
  readonly table: string;
  /** In the order of the table's columns. */
  readonly values: readonly FileValue[];
}

/**
 * Reads all rows of a book from one snapshot, table after table. `onRow` must be done with a row
 * when it returns. The memory does not grow with the book.
 */
export async function readBook(
  { engine, reader }: Pick<Cell, "engine" | "reader">,
  { book, columns }: { readonly book: MovedBook; readonly columns: TableColumns },
  onRow: (row: FileRow) => void,
): Promise<void> {
  await reader.snapshot(async (snapshot) => {
    for (const moved of MOVED_TABLES) {
      const own = Object.entries(columns.get(moved.name) ?? {});
      const list = own.map(([name, type]) => {
        // SQLite gives the empty text for the bytes of NULL.
        const hex = `CASE WHEN x.${name} IS NULL THEN NULL ELSE ${engine.hex(`x.${name}`)} END AS ${name}`;
        return type === "bytes" ? hex : `x.${name}`;
      });
      const { sql, bindings } = belongsTo(engine, moved, book);
      const order = moved.key.map((column) => `x.${column}`).join(", ");
      const rows = snapshot.rows<Readonly<Record<string, FileValue>>>(
        `SELECT ${list.join(", ")} FROM ${engine.table(moved.name)} x WHERE ${sql} ORDER BY ${order}`,
        bindings,
      );
      for (let row = await rows.next(); row !== undefined; row = await rows.next()) {
        const current = row;
        const values = own.map(([name]) => current[name] ?? null);
        onRow({ table: moved.name, values });
      }
    }
  });
}
