import { closeSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";

import knexModule, { type Knex } from "knex";
import pg from "pg";

import type { Committer } from "../ledger/ports/committer.js";
import { PostgresClient } from "./postgres/client.js";
import { postgresCommitter } from "./postgres/committer.js";
import { postgresEngine } from "./postgres/engine.js";
import { PostgresReader } from "./postgres/reader.js";
import { postgresTransactions } from "./postgres/transaction.js";
import type { Engine, Transact } from "./sql/engine.js";
import type { Reader } from "./sql/reader.js";
import { sqliteEngine } from "./sqlite/engine.js";
import { refuseForeignFile } from "./sqlite/file.js";
import { SqliteKnexClient } from "./sqlite/knex-client.js";
import { SqliteReader } from "./sqlite/reader.js";
import { workerCommitter, workerTransactions } from "./sqlite/worker-pool.js";

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

/** An open database. Statements run through these ways and no other. */
export interface Database {
  readonly engine: Engine;
  /** Reads of what is committed. */
  readonly reader: Reader;
  /** Commits the ledger's batches. */
  readonly committer: Committer;
  /** Transactions of everything else: organizations, keys. */
  readonly transact: Transact;
  /** Knex's migrations. */
  readonly migrator: Knex.Migrator;
  /** Resolves when the database answers. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

const PING = "SELECT 1";
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

  const pool = knex({
    ...COMMON,
    client: SqliteKnexClient as typeof Knex.Client,
    connection: { filename },
    useNullAsDefault: true,
  });
  // The writer goes first: it is what makes the file a database in WAL mode.
  await failingClosed(pool, () => pool.raw(PING));
  const reader = await failingClosed(pool, () => Promise.resolve(new SqliteReader(filename)));
  const client = pool.client as SqliteKnexClient;
  return {
    engine: sqliteEngine,
    reader,
    committer: workerCommitter(client),
    transact: workerTransactions(client),
    migrator: pool.migrate,
    ping: () => pingOf(reader),
    close: async () => {
      await reader.close();
      await pool.destroy();
    },
  };
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
  await failingClosed(pool, () => pool.raw(PING));
  const reader = new PostgresReader(pool);
  const transact = postgresTransactions(pool.client as PostgresClient);
  return {
    engine: postgresEngine,
    reader,
    committer: postgresCommitter(transact),
    transact,
    migrator: pool.migrate,
    ping: () => pingOf(reader),
    close: () => pool.destroy(),
  };
}

async function pingOf(reader: Reader): Promise<void> {
  await reader.rows(PING);
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
