import type { ColumnType } from "../../model/column.js";
import type { Cell } from "../database.js";
import type { Columns } from "../sql/engine.js";
import { MOVED_TABLES, type MovedTable } from "./tables.js";

interface ColumnRow {
  readonly table: string;
  readonly column: string;
  readonly type: string;
}

const TYPES: Readonly<Record<string, ColumnType>> = {
  integer: "int64",
  bigint: "int64",
  text: "text",
  blob: "bytes",
  bytea: "bytes",
};

/** The columns of each table, in the order of their names. */
export type TableColumns = ReadonlyMap<string, Columns>;

/**
 * Reads the columns of all moved tables from the schema, so that a new column goes along by itself.
 * They are sorted, because two databases may have added theirs in another order.
 */
export async function columnsOfTables({ engine, reader }: Pick<Cell, "engine" | "reader">): Promise<TableColumns> {
  const rows = await reader.rows<ColumnRow>(engine.columnsSql);
  return new Map(MOVED_TABLES.map((moved) => [moved.name, columnsIn(rows, moved)]));
}

function columnsIn(rows: readonly ColumnRow[], { name, numbered }: MovedTable): Columns {
  const own = rows.filter(({ table, column }) => table === name && column !== numbered);
  if (own.length === 0) throw new Error(`the table ${name} has no columns`);
  const names = own.map(({ column }) => column).sort();
  return Object.fromEntries(
    names.map((column) => [column, typeOf(own.find((row) => row.column === column) as ColumnRow)]),
  );
}

function typeOf({ table, column, type }: ColumnRow): ColumnType {
  const known = TYPES[type];
  if (known === undefined) throw new Error(`the column ${table}.${column} has the unknown type ${type}`);
  return known;
}
