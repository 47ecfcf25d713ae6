import { copyFileSync, rmSync } from "node:fs";

import BetterSqlite3 from "better-sqlite3";
import pg from "pg";

import { openDatabase } from "../../src/storage/database.js";
import { masterKeysIn } from "../../src/storage/secrets/master-key.js";
import { sqliteEngine } from "../../src/storage/sqlite/engine.js";
import { SqliteReader } from "../../src/storage/sqlite/reader.js";
import type { NotedHeads } from "../../src/verify/heads.js";
import type { PublishedCopy } from "../../src/verify/published-copy.js";
import { type Verification, verify } from "../../src/verify/verify.js";
import type { ENGINES, TestDatabase } from "../support/databases.js";
import { openTestDatabase } from "../support/databases.js";
import { TEST_MASTER_KEY_FILE } from "../support/master-key.js";
import { SEAL_PUBLIC_KEY } from "../support/seals/given-seals.js";

/** A database that somebody can change past all triggers, foreign keys and checks. */
export interface Unguarded {
  /** All columns, as "table.column". */
  readonly columns: readonly string[];
  /** Returns the rows of a SELECT on the unchanged database. */
  rows<Row>(sql: string): Promise<readonly Row[]>;
  /**
   * Runs the statements and verifies. Later calls do not see the changes. A statement writes bytes
   * as BYTES(hexadecimal).
   */
  verifyAfter(statements: readonly string[], heads?: NotedHeads, published?: PublishedCopy): Promise<Verification>;
  dispose(): Promise<void>;
}

const publicKeys = [SEAL_PUBLIC_KEY];

/** Makes the database, and its content by `fill`. */
export async function openUnguarded(
  engine: (typeof ENGINES)[number],
  fill: (database: TestDatabase["database"]) => Promise<void>,
): Promise<Unguarded> {
  const opened = await openTestDatabase(engine);
  await fill(opened.database);
  return opened.address.engine === "sqlite"
    ? unguardedSqlite(opened, opened.address.filename)
    : unguardedPostgres(opened, opened.address.url);
}

/** Each change is made in a copy of the file. */
async function unguardedSqlite(opened: TestDatabase, filename: string): Promise<Unguarded> {
  // Closing copies the log into the file.
  await opened.database.close();
  const original = new BetterSqlite3(filename);
  const columns = original
    .prepare<[], string>(
      `SELECT t.name || '.' || c.name FROM sqlite_schema t, pragma_table_info(t.name) c
       WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%'`,
    )
    .pluck()
    .all();
  const copy = `${filename}.copy`;
  return {
    columns,
    rows: <Row>(sql: string) => Promise.resolve(original.prepare<[], Row>(sql).all()),
    async verifyAfter(statements, heads, published) {
      copyFileSync(filename, copy);
      try {
        changeSqlite(copy, statements);
        const reader = new SqliteReader(copy);
        const cell = { engine: sqliteEngine, reader, masterKeys: masterKeysIn(TEST_MASTER_KEY_FILE) };
        return await verify({ cells: [cell] }, { notedHeads: heads, seals: { publicKeys, published } }).finally(() =>
          reader.close(),
        );
      } finally {
        for (const ending of ["", "-wal", "-shm"]) rmSync(`${copy}${ending}`, { force: true });
      }
    },
    async dispose() {
      original.close();
      await opened.dispose();
    },
  };
}

/** The triggers are there again afterwards, so the schema is that of the migrations. */
function changeSqlite(filename: string, statements: readonly string[]): void {
  const connection = new BetterSqlite3(filename);
  try {
    connection.pragma("foreign_keys = OFF");
    connection.pragma("ignore_check_constraints = ON");
    const triggers = connection
      .prepare<[], { name: string; sql: string }>("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'")
      .all();
    for (const { name } of triggers) connection.exec(`DROP TRIGGER ${name}`);
    for (const statement of statements) connection.exec(statement.replaceAll(/BYTES\(([0-9a-f]*)\)/g, "x'$1'"));
    for (const { sql } of triggers) connection.exec(sql);
  } finally {
    connection.close();
  }
}

/** Every change is taken back: the rows come from a copy of each table. */
async function unguardedPostgres(opened: TestDatabase, url: string): Promise<Unguarded> {
  const types = new pg.TypeOverrides();
  types.setTypeParser(pg.types.builtins.INT8, Number);
  const client = new pg.Client({ connectionString: url, types });
  await client.connect();
  const select = async <Row>(sql: string): Promise<readonly Row[]> => (await client.query(sql)).rows as Row[];
  const inPublic = await select<{ table: string; column: string }>(
    `SELECT table_name AS "table", column_name AS "column" FROM information_schema.columns WHERE table_schema = 'public'`,
  );
  const tables = [...new Set(inPublic.map(({ table }) => table))];
  await client.query("CREATE SCHEMA copies");
  for (const table of tables) await client.query(`CREATE TABLE copies.${table} AS TABLE public.${table}`);
  // Nothing takes this back, so every audit finds it, too.
  const checks = await select<{ table: string; name: string }>(
    `SELECT conrelid::regclass AS "table", conname AS name FROM pg_constraint
     WHERE contype = 'c' AND connamespace = 'public'::regnamespace`,
  );
  for (const { table, name } of checks) await client.query(`ALTER TABLE ${table} DROP CONSTRAINT ${name}`);
  await client.query("ALTER TABLE rail_messages ALTER COLUMN id DROP IDENTITY");
  await client.query("SET session_replication_role = replica");
  // Another pool, so that a test can close the first one.
  const database = await openDatabase(opened.address);
  return {
    columns: inPublic.map(({ table, column }) => `${table}.${column}`),
    rows: select,
    async verifyAfter(statements, heads, published) {
      try {
        for (const statement of statements) {
          await client.query(statement.replaceAll(/BYTES\(([0-9a-f]*)\)/g, String.raw`'\x$1'::bytea`));
        }
        return await verify(database, { notedHeads: heads, seals: { publicKeys, published } });
      } finally {
        await client.query(`TRUNCATE ${tables.join(", ")}`);
        for (const table of tables) await client.query(`INSERT INTO ${table} SELECT * FROM copies.${table}`);
      }
    },
    async dispose() {
      await client.end();
      await database.close();
      await opened.dispose();
    },
  };
}

/** The findings on the rows, as text. Leaves out those on the schema. */
export function findingsOnRows({ firstFindings }: Verification): readonly string[] {
  return firstFindings
    .filter(({ table }) => table !== "schema")
    .map(({ seq, table, id, expected, found }) => `${table} ${String(seq)} ${id ?? ""}: ${expected} | ${found}`);
}
