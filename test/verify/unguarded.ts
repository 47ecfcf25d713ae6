import BetterSqlite3 from "better-sqlite3";

import { openDatabase } from "../../src/storage/database.js";
import { masterKeysIn } from "../../src/storage/secrets/master-key.js";
import type { Binding, Engine } from "../../src/storage/sql/engine.js";
import type { Reader } from "../../src/storage/sql/reader.js";
import { sqliteEngine } from "../../src/storage/sqlite/engine.js";
import { SqliteStatements } from "../../src/storage/sqlite/statements.js";
import type { NotedHeads } from "../../src/verify/heads.js";
import type { PublishedCopy } from "../../src/verify/published-copy.js";
import { type Verification, verify } from "../../src/verify/verify.js";
import type { ENGINES, TestDatabase } from "../support/databases.js";
import { execute, openTestDatabase } from "../support/databases.js";
import { TEST_MASTER_KEY_FILE } from "../support/master-key.js";
import { SEAL_PUBLIC_KEY } from "../support/seals/given-seals.js";

/** A database that somebody can change past all triggers, foreign keys and checks. */
export interface Unguarded {
  /** All columns, as "table.column". */
  readonly columns: readonly string[];
  /** Returns the SQL with its bytes, which it writes as BYTES(hexadecimal). */
  sql(text: string): string;
  /** Returns the rows of a SELECT on the unchanged database. */
  rows<Row>(sql: string): Promise<readonly Row[]>;
  /**
   * Runs the statements and verifies. Later calls do not see the changes. The statements are those
   * of `sql`.
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

async function unguardedSqlite(opened: TestDatabase, filename: string): Promise<Unguarded> {
  await opened.database.close();
  const connection = new BetterSqlite3(filename);
  connection.pragma("foreign_keys = OFF");
  connection.pragma("ignore_check_constraints = ON");
  const select = connection.prepare<[], string>("SELECT name FROM sqlite_schema WHERE type = 'trigger'");
  for (const trigger of select.pluck().all()) connection.exec(`DROP TRIGGER ${trigger}`);
  const columns = connection
    .prepare<[], string>(
      `SELECT t.name || '.' || c.name FROM sqlite_schema t, pragma_table_info(t.name) c
       WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%'`,
    )
    .pluck()
    .all();
  const statements = new SqliteStatements(connection);
  return {
    columns,
    rows: <Row>(sql: string) => Promise.resolve(connection.prepare<[], Row>(sql).all()),
    ...rollingBack({
      engine: sqliteEngine,
      rows: <Row>(sql: string, bindings: readonly Binding[] = []) => {
        const statement = statements.prepare(sql);
        if (statement.reader) return Promise.resolve(statement.all(...bindings) as Row[]);
        statement.run();
        return Promise.resolve([]);
      },
      bytes: "x'$1'",
    }),
    async dispose() {
      connection.close();
      await opened.dispose();
    },
  };
}

async function unguardedPostgres(opened: TestDatabase, url: string): Promise<Unguarded> {
  const inPublic = await execute<{ table: string; column: string }>(
    opened.address,
    `SELECT table_name AS "table", column_name AS "column" FROM information_schema.columns WHERE table_schema = 'public'`,
  );
  const checks = await execute<{ table: string; name: string }>(
    opened.address,
    `SELECT conrelid::regclass AS "table", conname AS name FROM pg_constraint
     WHERE contype = 'c' AND connamespace = 'public'::regnamespace`,
  );
  await execute(
    opened.address,
    ...checks.map(({ table, name }) => `ALTER TABLE ${table} DROP CONSTRAINT ${name}`),
    "ALTER TABLE rail_messages ALTER COLUMN id DROP IDENTITY",
  );
  // A pool of its own, so that a test can close the first one. It reads on one connection, so every
  // statement runs in the transaction that the first of them begins.
  const database = await openDatabase({
    engine: "postgres",
    url,
    connectionsMax: 1,
    masterKeyFile: TEST_MASTER_KEY_FILE,
  });
  const { engine, reader } = database.cells[0];
  await reader.rows("SET session_replication_role = replica");
  return {
    columns: inPublic.map(({ table, column }) => `${table}.${column}`),
    rows: (sql) => reader.rows(sql),
    ...rollingBack({ engine, rows: reader.rows.bind(reader), bytes: String.raw`'\x$1'::bytea` }),
    async dispose() {
      await database.close();
      await opened.dispose();
    },
  };
}

/**
 * Makes the changes in a transaction, lets the audit read on the same connection, and rolls back.
 * The audit of the schema is left out: it takes most of the time, and no such change is its matter.
 */
function rollingBack({
  engine,
  rows,
  bytes,
}: {
  readonly engine: Engine;
  readonly rows: Reader["rows"];
  readonly bytes: string;
}): Pick<Unguarded, "verifyAfter" | "sql"> {
  const reader: Reader = {
    rows,
    snapshot: <Result>() => Promise.resolve(true as Result),
    close: () => Promise.resolve(),
  };
  const cells = [{ engine, reader, masterKeys: masterKeysIn(TEST_MASTER_KEY_FILE) }];
  const sql = (text: string): string => text.replaceAll(/BYTES\(([0-9a-f]*)\)/g, bytes);
  return {
    sql,
    async verifyAfter(statements, notedHeads, published) {
      await rows("BEGIN");
      try {
        for (const statement of statements) await rows(sql(statement));
        return await verify({ cells }, { notedHeads, seals: { publicKeys, published } });
      } finally {
        await rows("ROLLBACK");
      }
    },
  };
}

/** The findings, as text. */
export function findingsOnRows({ firstFindings }: Verification): readonly string[] {
  return firstFindings.map(
    ({ seq, table, id, expected, found }) => `${table} ${String(seq)} ${id ?? ""}: ${expected} | ${found}`,
  );
}
