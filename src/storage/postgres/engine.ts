import { StoreError } from "../../ledger/ports/store.js";
import type { Columns, Engine } from "../sql/engine.js";

// See https://www.postgresql.org/docs/current/errcodes-appendix.html.
const LOST_RACES = new Set([
  "40001", // serialization_failure
  "40P01", // deadlock_detected
  "23505", // unique_violation: another server saved the same reference first
]);
// Class 22 is data exception, class 23 is integrity constraint violation.
const REFUSES_CONTENT = /^2[23]/;

export const postgresEngine: Engine = {
  name: "postgres",
  int64: "BIGINT",
  tableOptions: "",

  appendOnly: (table) => [
    `CREATE FUNCTION ${table}_refuses_change() RETURNS trigger LANGUAGE plpgsql AS $$
       BEGIN RAISE EXCEPTION '${table} is append-only'; END $$`,
    `CREATE TRIGGER ${table}_refuses_change BEFORE UPDATE OR DELETE OR TRUNCATE ON ${table}
       FOR EACH STATEMENT EXECUTE FUNCTION ${table}_refuses_change()`,
  ],
  changeable: (table) => [`DROP TRIGGER ${table}_refuses_change ON ${table}`, `DROP FUNCTION ${table}_refuses_change`],

  forUpdate: "FOR UPDATE",

  input,
  list: "SELECT value FROM json_array_elements_text(?::json)",

  insertInto: (table, columns) => {
    const names = Object.keys(columns);
    return `INSERT INTO ${table} (${names.join(", ")}) SELECT ${names.join(", ")} FROM ${input(columns)}`;
  },
  update: (table, { columns, key, becomes = (_, given) => given }) => {
    const changes = Object.keys(columns).filter((name) => name !== key);
    const set = changes.map((name) => `${name} = ${becomes(`${table}.${name}`, `input.${name}`)}`);
    return `UPDATE ${table} SET ${set.join(", ")} FROM ${input(columns)} WHERE ${table}.${key} = input.${key}`;
  },
  storeErrorOf: (error) => {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    if (LOST_RACES.has(code)) return new StoreError("conflict", error);
    return new StoreError(REFUSES_CONTENT.test(code) ? "rejected" : "unavailable", error);
  },
};

function input(columns: Columns): string {
  const types = { text: "text", int64: "bigint" } as const;
  const fields = Object.entries(columns).map(([column, type]) => `${column} ${types[type]}`);
  return `json_to_recordset(?::json) AS input(${fields.join(", ")})`;
}
