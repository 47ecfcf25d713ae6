import { closeSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";

import knexModule, { type Knex } from "knex";
import pg from "pg";

import { PostgresClient } from "./postgres/client.js";
import { postgresEngine } from "./postgres/engine.js";
import { PostgresReader } from "./postgres/reader.js";
import type { Engine } from "./sql/engine.js";
import type { Reader } from "./sql/reader.js";
import { sqliteEngine } from "./sqlite/engine.js";
import { refuseForeignFile } from "./sqlite/file.js";
import { SqliteReader } from "./sqlite/reader.js";
import { SqliteThreadClient } from "./sqlite/worker-client.js";

const { knex } = knexModule;

/** Where the data lives: a file of SQLite, or a server of PostgreSQL. */
export type DatabaseAddress =
  | { readonly engine: "sqlite"; readonly filename: string }
  | { readonly engine: "postgres"; readonly url: string; readonly connectionsMax: number };

export interface DatabaseOptions {
  /**
   * PostgreSQL ends a statement that runs longer; 0 for none, where the work is known to be long.
   */
  readonly statementMillisMax: number;
}

export interface Database {
  readonly engine: Engine;
  readonly write: Knex;
  readonly reader: Reader;
  close(): Promise<void>;
}

const OWNER_ONLY_FILE = 0o600;
const OWNER_ONLY_FOLDER = 0o700;
const CONNECT_MILLIS_MAX = 3_000;
const STATEMENT_MILLIS_MAX = 10_000;
// The system would ask after two hours whether the other end is still there.
const KEEP_ALIVE_MILLIS = 10_000;

const silent = (): void => undefined;
const COMMON = {
  // Otherwise Knex puts every parameter into the message of an error, and so phone numbers into a
  // log.
  compileSqlOnError: false,
  // What goes wrong reaches us as a rejection; Knex's own lines would stand between ours.
  log: { warn: silent, error: silent, deprecate: silent, debug: silent },
  acquireConnectionTimeout: CONNECT_MILLIS_MAX,
} as const;

/**
 * Opens the database and checks that its commits are durable. An SQLite file that does not exist is
 * created, readable by its owner alone. Rejects, in words that say what is wrong, when it can't be
 * reached or its settings are not safe, and with a ForeignFileError when the file is not ours.
 */
export function openDatabase(
  address: DatabaseAddress,
  options: DatabaseOptions = { statementMillisMax: STATEMENT_MILLIS_MAX },
): Promise<Database> {
  return address.engine === "sqlite" ? openSqlite(address.filename) : openPostgres(address, options);
}

async function openSqlite(filename: string): Promise<Database> {
  mkdirSync(dirname(filename), { recursive: true, mode: OWNER_ONLY_FOLDER });
  refuseForeignFile(filename);
  // Made here, so that the file never exists with a wider mode; SQLite gives the same one to its
  // -wal and -shm files.
  closeSync(openSync(filename, "a", OWNER_ONLY_FILE));

  const write = knex({
    ...COMMON,
    client: SqliteThreadClient as typeof Knex.Client,
    connection: { filename },
    useNullAsDefault: true,
  });
  // The writer goes first: it is what makes the file a database in WAL mode.
  await failingClosed(write, () => write.raw("SELECT 1"));
  const reader = await failingClosed(write, () => Promise.resolve(new SqliteReader(filename)));
  const close = async (): Promise<void> => {
    await reader.close();
    await write.destroy();
  };
  return { engine: sqliteEngine, write, reader, close };
}

async function openPostgres(
  { url, connectionsMax }: DatabaseAddress & { engine: "postgres" },
  { statementMillisMax }: DatabaseOptions,
): Promise<Database> {
  const connection: pg.ClientConfig = {
    connectionString: url,
    application_name: "kesc",
    connectionTimeoutMillis: CONNECT_MILLIS_MAX,
    statement_timeout: statementMillisMax,
    // Where the network loses us amid a transaction, the server must not keep its locks until it
    // notices by itself.
    idle_in_transaction_session_timeout: statementMillisMax,
    // The server's own limit answers first; this one is for a server that no longer answers at all.
    query_timeout: statementMillisMax === 0 ? 0 : statementMillisMax + CONNECT_MILLIS_MAX,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MILLIS,
    // Statements go out without waiting for the answers to those before them.
    pipeline: true,
    types: typesWithNumbers(),
  };
  const pool = knex({
    ...COMMON,
    client: PostgresClient as typeof Knex.Client,
    // The driver's own settings, of which Knex's types know fewer.
    connection: connection as Knex.PgConnectionConfig,
    pool: { min: 0, max: connectionsMax },
  });
  await failingClosed(pool, () => pool.raw("SELECT 1"));
  return { engine: postgresEngine, write: pool, reader: new PostgresReader(pool), close: () => pool.destroy() };
}

/** Amounts and moments are safe integers; sums that may not be are read as text. */
function typesWithNumbers(): pg.CustomTypesConfig {
  const types = new pg.TypeOverrides();
  types.setTypeParser(pg.types.builtins.INT8, Number);
  return types;
}

/** Answers what `check` does. */
async function failingClosed<Result>(pool: Knex, check: () => PromiseLike<Result>): Promise<Result> {
  try {
    return await check();
  } catch (error) {
    await pool.destroy();
    throw error;
  }
}
