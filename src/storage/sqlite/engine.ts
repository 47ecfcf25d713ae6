import { StoreError } from "../../ledger/ports/store.js";
import type { Columns, Engine } from "../sql/engine.js";
import { APPLICATION_ID } from "./file.js";

export const sqliteEngine: Engine = {
  name: "sqlite",
  schema: undefined,
  table: (name) => name,
  int64: "INTEGER",
  rowNumber: "INTEGER NOT NULL PRIMARY KEY",
  bytes: "BLOB",
  hex: (column) => `lower(hex(${column}))`,
  unhex: (expression) => `unhex(${expression})`,
  columnsSql: `
    SELECT t.name AS "table", c.name AS "column", lower(c.type) AS type
    FROM sqlite_schema t, pragma_table_info(t.name) c
    WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%' ORDER BY t.name, c.cid`,
  tableOptions: "STRICT",
  // SQLite changes rows in place.
  changingTableOptions: () => "STRICT",
  clusteredTableOptions: "STRICT, WITHOUT ROWID",

  appendOnly: (table) => ["UPDATE", "DELETE"].map((change) => refusal(table, change)),
  // The schema belongs to the transaction, so a crash brings the trigger back.
  deletable: (table) => ({
    allow: `DROP TRIGGER ${table}_refuses_delete`,
    refuse: refusal(table, "DELETE"),
  }),

  // SQLite only counts values.
  withoutStatistics: () => [],

  // BEGIN IMMEDIATE locks the whole file for one writer.
  administrationLock: "SELECT 1",
  railAccountsLock: "SELECT 1",
  tableOfAllCells: (name) => name,
  // Writes the first page, although the value stays. An UPDATE to the same value writes no page.
  trialWrite: `PRAGMA application_id = ${String(APPLICATION_ID)}`,
  indexedBy: (index) => ` INDEXED BY ${index}`,
  within: (column, select) => `${column} IN (${select})`,
  // CROSS JOIN keeps the order of the tables.
  lookedUp: (table, alias, condition, joins = "") => `CROSS JOIN ${table} ${alias} ${joins} WHERE ${condition}`,
  forUpdate: "",
  begunAt: "NULL",
  nowMillis: "CAST(unixepoch('subsec') * 1000 AS INTEGER)",

  input: (columns) => {
    const fields = Object.keys(columns).map((column) => `value ->> '${column}' AS ${column}`);
    return `(SELECT ${fields.join(", ")} FROM json_each(?)) AS input`;
  },

  unionPart: (select) => select,
  jsonItems: (json) => `json_each(${json})`,
  jsonRows: (alias, columns, rows) => {
    const fields = Object.keys(columns).map((column) => `'${column}', ${alias}.${column}`);
    return `(SELECT json_group_array(json_object(${fields.join(", ")})) FROM ${rows})`;
  },

  // SqliteStatements runs it for each row, or for eight. Taking rows out of JSON in SQL took 2.4
  // times as long (docs/adr/0008).
  insertInto: (table, columns) => {
    const names = Object.keys(columns);
    const values = names.map((name) => valueOf(name, columns));
    return `INSERT INTO ${table} (${names.join(", ")}) VALUES (${values.join(", ")})`;
  },
  update: (table, { columns, key }) => {
    const keys = [key].flat();
    const changes = Object.keys(columns).filter((name) => !keys.includes(name));
    const set = changes.map((name) => `${name} = ${valueOf(name, columns)}`);
    const found = keys.map((name) => `${name} = @${name}`);
    return `UPDATE ${table} SET ${set.join(", ")} WHERE ${found.join(" AND ")}`;
  },
  deleteFrom: (table, column, key) => `DELETE FROM ${table} WHERE ${column} = @${key}`,
  isMissingTable: (error) => error instanceof Error && error.message.startsWith("no such table: "),
  storeErrorOf: (error) => {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    const refusesContent = /^SQLITE_(CONSTRAINT|MISMATCH|TOOBIG|RANGE)/.test(code);
    return new StoreError(refusesContent ? "rejected" : "unavailable", error);
  },
};

function valueOf(name: string, columns: Columns): string {
  return columns[name] === "bytes" ? `unhex(@${name})` : `@${name}`;
}

function refusal(table: string, change: string): string {
  return `
        CREATE TRIGGER ${table}_refuses_${change.toLowerCase()} BEFORE ${change} ON ${table}
        BEGIN SELECT RAISE(ABORT, '${table} is append-only'); END`;
}
