import { type InsertedRow, insertedTypesOf, type TableModel } from "../../model/column.js";
import { MODEL, type ModelName } from "../../model/tables.js";
import type { Engine, Write } from "./engine.js";

/** Returns the write that inserts rows into one of our tables. Their bytes are in hexadecimal. */
export function insertOf<Name extends ModelName>(
  { table, insertInto }: Pick<Engine, "table" | "insertInto">,
  name: Name,
  rows: readonly InsertedRow<(typeof MODEL)[Name]>[],
): Write {
  return { sql: insertInto(table(name), insertedTypesOf<TableModel>(MODEL[name])), rows };
}
