import { StoreError } from "../../ledger/ports/store.js";
import type { Columns, Engine, RowChange } from "../sql/engine.js";
import { refusesKeptPlan } from "./kept-plans.js";

// See https://www.postgresql.org/docs/current/errcodes-appendix.html.
const LOST_RACES = new Set([
  "40001", // serialization_failure
  "40P01", // deadlock_detected
  "23505", // unique_violation: another server saved the same reference first
  "55P03", // lock_not_available: another server holds the lock for longer than lock_timeout
]);
const UNDEFINED_TABLE = "42P01";
// Class 22 is data exception, class 23 is integrity constraint violation.
const REFUSES_CONTENT = /^2[23]/;

// now() is the time of BEGIN. Waiting for a lock does not change it.
const NOW_MILLIS = "CAST(extract(epoch FROM now()) * 1000 AS BIGINT)";

// The numbers have no meaning. Other programs of the same database must not use them.
const ADMINISTRATION_LOCK = 5_002_355_671;
const RAIL_ACCOUNTS_LOCK = 5_002_355_673;

/**
 * The engine of one of the schemas. Every statement names the schema, so the settings of a
 * connection do not matter.
 */
export function postgresEngine(schema: string, schemas: readonly string[] = [schema]): Engine {
  const table = (name: string): string => `${schema}.${name}`;
  return {
    name: "postgres",
    schema,
    table,
    int64: "BIGINT",
    rowNumber: "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
    bytes: "BYTEA",
    hex: (column) => `encode(${column}, 'hex')`,
    unhex: (expression) => `decode(${expression}, 'hex')`,
    columnsSql: `
      SELECT table_name AS "table", column_name AS "column", data_type AS type
      FROM information_schema.columns WHERE table_schema = '${schema}' ORDER BY table_name, ordinal_position`,
    tableOptions: "",
    changingTableOptions: (percent) => `WITH (fillfactor = ${String(percent)})`,
    clusteredTableOptions: "",

    appendOnly: (name) => {
      const refuses = table(`${name}_refuses_change`);
      return [
        `CREATE FUNCTION ${refuses}() RETURNS trigger LANGUAGE plpgsql AS $$
           BEGIN RAISE EXCEPTION '${name} is append-only'; END $$`,
        // Citus refuses triggers on placed tables. There the rights of the serving role guard the
        // journal (docs/many-organizations.md).
        unlessOnCitus(
          `CREATE TRIGGER ${name}_refuses_change BEFORE UPDATE OR DELETE OR TRUNCATE ON ${table(name)}
             FOR EACH STATEMENT EXECUTE FUNCTION ${refuses}()`,
        ),
      ];
    },

    deletable: (name) => {
      const change = (word: string): string =>
        unlessOnCitus(`ALTER TABLE ${table(name)} ${word} TRIGGER ${name}_refuses_change`);
      return { allow: change("DISABLE"), refuse: change("ENABLE") };
    },

    // Citus refuses this, too. There ANALYZE keeps samples of these columns (docs/operations.md).
    withoutStatistics: (name, columns) => [
      unlessOnCitus(
        `ALTER TABLE ${table(name)} ${columns.map((column) => `ALTER COLUMN ${column} SET STATISTICS 0`).join(", ")}`,
      ),
    ],

    administrationLock: `SELECT pg_advisory_xact_lock(${String(ADMINISTRATION_LOCK)})`,
    railAccountsLock: `SELECT pg_advisory_xact_lock(${String(RAIL_ACCOUNTS_LOCK)})`,
    tableOfAllCells: (name) => `(${schemas.map((each) => `SELECT * FROM ${each}.${name}`).join(" UNION ALL ")})`,
    // Writes a new version of a row that the batches write, too.
    trialWrite: `UPDATE ${table("books")} SET last_seq = last_seq
      WHERE number = (SELECT MIN(number) FROM ${table("books")})`,
    indexedBy: () => "",
    // PostgreSQL computes the array once, before it locks the first row.
    within: (column, select) => `${column} = ANY (ARRAY(${select}))`,
    // Without OFFSET it is a join, and of a small table that reads all rows.
    lookedUp: (from, alias, condition, joins = "") =>
      `CROSS JOIN LATERAL (SELECT * FROM ${from} ${alias} WHERE ${condition} OFFSET 0) ${alias} ${joins}`,
    // FOR UPDATE would also block the inserts of rows that refer to the locked row.
    forUpdate: "FOR NO KEY UPDATE",
    begunAt: NOW_MILLIS,
    nowMillis: NOW_MILLIS,

    input,
    unionPart: (select, { order, limit }) => `(${select} ORDER BY ${order} LIMIT ${String(limit)})`,
    jsonItems: (json) => `json_array_elements_text(${json}::json)`,
    jsonRows: (alias, columns, rows) => {
      const fields = Object.keys(columns).map((column) => `'${column}', ${alias}.${column}`);
      return `(SELECT CAST(json_agg(json_build_object(${fields.join(", ")})) AS TEXT) FROM ${rows})`;
    },

    insertInto: (name, columns) => {
      const names = Object.keys(columns);
      const values = names.map((column) => valueOf(column, columns));
      return `INSERT INTO ${name} (${names.join(", ")}) SELECT ${values.join(", ")} FROM ${input(columns)}`;
    },
    update,
    deleteFrom: (name, column, key) =>
      `DELETE FROM ${name} AS gone USING ${input({ [key]: "text" })} WHERE gone.${column} = input.${key}`,
    isMissingTable: (error) => codeOf(error) === UNDEFINED_TABLE,
    storeErrorOf,
  };
}

function update(name: string, { columns, key }: RowChange): string {
  const keys = [key].flat();
  const changes = Object.keys(columns).filter((column) => !keys.includes(column));
  const set = changes.map((column) => `${column} = ${valueOf(column, columns)}`);
  const found = keys.map((column) => `changed.${column} = input.${column}`).join(" AND ");
  return `UPDATE ${name} AS changed SET ${set.join(", ")} FROM ${input(columns)} WHERE ${found}`;
}

function storeErrorOf(error: unknown): StoreError {
  const code = codeOf(error);
  if (LOST_RACES.has(code) || isCitusUniqueViolation(code, error) || refusesKeptPlan(error))
    return new StoreError("conflict", error);
  return new StoreError(REFUSES_CONTENT.test(code) ? "rejected" : "unavailable", error);
}

/** Returns a statement that does nothing in a database with Citus. */
function unlessOnCitus(statement: string): string {
  return `DO $$ BEGIN
    IF NOT EXISTS (SELECT 1 FROM pg_catalog.pg_extension WHERE extname = 'citus') THEN ${statement}; END IF;
  END $$`;
}

/** Citus reports a unique violation of INSERT … SELECT as an internal error. */
function isCitusUniqueViolation(code: string, error: unknown): boolean {
  return code === "XX000" && error instanceof Error && error.message.startsWith("duplicate key value violates");
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}

function valueOf(column: string, columns: Columns): string {
  return columns[column] === "bytes" ? `decode(input.${column}, 'hex')` : `input.${column}`;
}

function input(columns: Columns): string {
  const types = { text: "text", int64: "bigint", bytes: "text" } as const;
  const fields = Object.entries(columns).map(([column, type]) => `${column} ${types[type]}`);
  return `json_to_recordset(?::json) AS input(${fields.join(", ")})`;
}
