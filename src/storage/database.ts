import { closeSync, existsSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";

import knexModule, { type Knex } from "knex";
import pg from "pg";

import type { UnixMillis } from "../domain/values/time.js";
import type { Committer } from "../ledger/ports/committer.js";
import type { Leaves } from "../seals/ports.js";
import type { LeafRange } from "./leaves/leaf-rows.js";
import {
  type ConnectionLimits,
  limitsOf,
  localSettings,
  migrationSettings,
  withoutLimits,
} from "./postgres/address.js";
import { cellSchemas } from "./postgres/cells.js";
import { PostgresClient, ReadingPostgresClient } from "./postgres/client.js";
import { postgresEngine } from "./postgres/engine.js";
import { KeptPlans } from "./postgres/kept-plans.js";
import { pingPostgres } from "./postgres/ping.js";
import { PostgresReader } from "./postgres/reader.js";
import { postgresCommitter, postgresTransactions } from "./postgres/transaction.js";
import { masterKeysIn, type MasterKeySource } from "./secrets/master-key.js";
import { BookDirectory } from "./sql/book-directory.js";
import type { Engine, Transact } from "./sql/engine.js";
import { ledgerStore } from "./sql/ledger-store.js";
import type { Reader } from "./sql/reader.js";
import { ClockWatch } from "./sqlite/clock-watch.js";
import { sqliteEngine } from "./sqlite/engine.js";
import { MissingFileError, refuseForeignFile } from "./sqlite/file.js";
import { SqliteListReader } from "./sqlite/list-reader.js";
import { SqliteReader } from "./sqlite/reader.js";
import { ServerLock } from "./sqlite/server-lock.js";
import type { WorkerFiles } from "./sqlite/worker.js";
import { SqliteKnexClient, workerCommitter, workerTransactions } from "./sqlite/worker-pool.js";

const { knex } = knexModule;

/** The address of the data: an SQLite file or a PostgreSQL server. */
export type DatabaseAddress = (
  | { readonly engine: "sqlite"; readonly filename: string }
  | { readonly engine: "postgres"; readonly url: string; readonly connectionsMax: number }
) & {
  /** The file of the master keys, which encrypt the keys of the books. It is read when needed. */
  readonly masterKeyFile: string;
};

export interface DatabaseOptions {
  /**
   * PostgreSQL cancels a statement that runs longer. 0 means no limit, for work that takes long. 10
   * seconds when omitted.
   */
  readonly statementMillisMax?: number;
  /** Whether nothing is written. A hot standby of PostgreSQL then serves, too. */
  readonly onlyReads?: boolean;
  /** Whether to reject if the SQLite file does not exist. Otherwise it is created. */
  readonly mustExist?: boolean;
  /** Called once, if a pooler before PostgreSQL keeps no statements. */
  readonly onPlansRefused?: () => void;
}

/** An open database: one or more cells. */
export interface Database {
  /** Cell n has the index n. */
  readonly cells: readonly [Cell, ...Cell[]];
  /** The number of lists that should run at once. More would only delay other reads. */
  readonly listsMax: number;
  /** The number of reads by id that one cell should run at once. */
  readonly readsMax: number;
  /**
   * Resolves if the database responds. Rejects if its clock differs from `now` by more than 2
   * seconds, or if its settings are no longer safe.
   */
  ping(now: () => UnixMillis): Promise<void>;
  close(): Promise<void>;
}

/**
 * One schema with books of its own. An organization lives in one cell, and no transaction touches
 * two. Every statement of the service runs through one of these members.
 */
export interface Cell {
  readonly number: number;
  readonly engine: Engine;
  /** Reads committed rows. */
  readonly reader: Reader;
  /** Reads the committed rows of lists, which takes longer. */
  readonly listReader: Pick<Reader, "rows"> & LeafThread;
  /** The books of this cell. */
  readonly directory: BookDirectory;
  readonly masterKeys: MasterKeySource;
  readonly masterKeyFile: string;
  /** Commits the ledger's batches. */
  readonly committer: Committer;
  /** Runs every other transaction, such as those on organizations and keys. */
  readonly transact: Transact;
  /** Commits a write that changes nothing. Rejects if the database takes no commits. */
  readonly tryToWrite: () => Promise<void>;
  /** Tells whether no other server of an SQLite file is alive. PostgreSQL has no such lock. */
  readonly serverLock: Pick<ServerLock, "take"> | undefined;
  /** Runs the migrations of Knex. */
  readonly migrator: Pick<Knex.Migrator, "latest">;
}

/** Returns the cell that keeps an organization. */
export function cellOf<Each>(
  { cells }: { readonly cells: readonly Each[] },
  { cell: number }: { readonly cell: number },
): Each {
  const cell = cells[number];
  if (cell === undefined) throw new Error(`there is no cell ${String(number)}`);
  return cell;
}

/** Computes leaves on a thread of its own, if the engine has one. */
interface LeafThread {
  leaves?(range: LeafRange): Promise<Leaves>;
}

const PING = "SELECT 1";
const OWNER_ONLY_FILE = 0o600;
const OWNER_ONLY_FOLDER = 0o700;
const CONNECT_MILLIS_MAX = 3_000;
// A local file is there or not: only a busy machine makes its opening take long.
const OPEN_FILE_MILLIS_MAX = 60_000;
const STATEMENT_MILLIS_MAX = 10_000;
// Without this setting, the operating system checks a silent connection only after two hours.
const KEEP_ALIVE_MILLIS = 10_000;

// The thread of the lists runs one at a time. With two, the next one is there when one ends.
const SQLITE_LISTS_MAX = 2;

const silent = (): void => undefined;
const COMMON = {
  // Otherwise Knex puts every parameter into its error messages. Phone numbers would then reach the
  // log.
  compileSqlOnError: false,
  // Knex also rejects its promises. Its own log lines would be duplicates between ours.
  log: { warn: silent, error: silent, deprecate: silent, debug: silent },
} as const;

/**
 * Opens the database and checks that its commits are durable. Creates a missing SQLite file, which
 * only its owner can read.
 *
 * Rejects with a ForeignFileError if the file does not belong to KESC, and with a MissingFileError
 * if it must exist and does not. Rejects with an Error that gives the reason if the database cannot
 * be reached, or if its settings are not safe.
 */
export function openDatabase(address: DatabaseAddress, options: DatabaseOptions = {}): Promise<Database> {
  return address.engine === "sqlite" ? openSqlite(address, options) : openPostgres(address, options);
}

async function openSqlite(
  { filename, masterKeyFile }: DatabaseAddress & { engine: "sqlite" },
  { mustExist = false }: DatabaseOptions,
): Promise<Database> {
  refuseForeignFile(filename);
  if (mustExist && !existsSync(filename)) throw new MissingFileError("it does not exist");
  mkdirSync(dirname(filename), { recursive: true, mode: OWNER_ONLY_FOLDER });
  // Creates the file here, so that it never exists with a wider mode. SQLite gives the same mode to
  // its -wal and -shm files.
  closeSync(openSync(filename, "a", OWNER_ONLY_FILE));

  const pool = knex({
    ...COMMON,
    client: SqliteKnexClient as typeof Knex.Client,
    connection: { filename, masterKeyFile, isReadOnly: false } satisfies WorkerFiles as Knex.Sqlite3ConnectionConfig,
    useNullAsDefault: true,
    acquireConnectionTimeout: OPEN_FILE_MILLIS_MAX,
    pool: { createTimeoutMillis: OPEN_FILE_MILLIS_MAX },
  });
  // The writer must open the file first, because it sets the database to WAL mode.
  await failingClosed(pool, () => pool.raw(PING));
  const reader = await failingClosed(pool, () => Promise.resolve(new SqliteReader(filename)));
  const listReader = new SqliteListReader({ filename, masterKeyFile });
  const client = pool.client as SqliteKnexClient;
  const masterKeys = masterKeysIn(masterKeyFile);
  const serverLock = new ServerLock(filename);
  const clock = new ClockWatch();
  const committer = workerCommitter(client);
  const transact = workerTransactions(client);
  const cell: Cell = {
    number: 0,
    engine: sqliteEngine,
    reader,
    listReader,
    directory: new BookDirectory(sqliteEngine, masterKeys),
    masterKeys,
    masterKeyFile,
    committer: {
      ...committer,
      commit: async (commands, now) => {
        clock.refuseJump();
        return committer.commit(commands, now);
      },
    },
    transact: async (work) => {
      clock.refuseJump();
      return transact(work);
    },
    tryToWrite: () => tryToWrite(sqliteEngine, transact),
    serverLock,
    // The transaction takes the write lock before Knex looks for its own tables. Otherwise two
    // processes could both create them.
    migrator: { latest: (config) => pool.transaction((transaction) => migrateUnlocked(transaction, config)) },
  };
  return {
    cells: [cell],
    listsMax: SQLITE_LISTS_MAX,
    // They run on this thread, in the order of the calls.
    readsMax: Infinity,
    ping: async () => {
      clock.refuseJump();
      await reader.rows(PING);
    },
    close: async () => {
      await reader.close();
      await listReader.close();
      await pool.destroy();
      serverLock.release();
    },
  };
}

async function openPostgres(
  { url, connectionsMax, masterKeyFile }: DatabaseAddress & { engine: "postgres" },
  { statementMillisMax = STATEMENT_MILLIS_MAX, onlyReads = false, onPlansRefused = silent }: DatabaseOptions,
): Promise<Database> {
  const limits = limitsOf(url, statementMillisMax);
  const connection = connectionOf(url, limits);
  const openPool = (max: number): Knex =>
    knex({
      ...COMMON,
      client: (onlyReads ? ReadingPostgresClient : PostgresClient) as typeof Knex.Client,
      // The types of Knex list only some of the driver's settings.
      connection: connection as Knex.PgConnectionConfig,
      acquireConnectionTimeout: CONNECT_MILLIS_MAX,
      pool: { min: 0, max },
    });
  // Commits and pings have connections of their own, so they never wait for reads.
  const pingPool = openPool(1);
  const schemas = await failingClosed(pingPool, () => schemasWithin(pingPool, limits));
  const connections = shareConnections(connectionsMax, schemas.length);
  const pool = openPool(connections.reads);
  const commitPool = openPool(connections.commits);
  const transact = postgresTransactions(pool.client as PostgresClient, limits);
  const plans = new KeptPlans(onPlansRefused);
  const transactBatch = postgresTransactions(commitPool.client as PostgresClient, limits, plans);
  const masterKeys = masterKeysIn(masterKeyFile);
  const cellOf = (schema: string, number: number): Cell => {
    const engine = postgresEngine(schema, schemas);
    const directory = new BookDirectory(engine, masterKeys);
    const reader = new PostgresReader(pool, engine, limits);
    return {
      number,
      engine,
      reader,
      listReader: reader,
      directory,
      masterKeys,
      masterKeyFile,
      committer: postgresCommitter(ledgerStore(engine, transactBatch, directory)),
      transact,
      tryToWrite: () => tryToWrite(engine, transactBatch),
      serverLock: undefined,
      migrator: {
        latest: (config) =>
          pool.transaction(async (transaction) => {
            await transaction.raw(migrationSettings(limits));
            return migrateUnlocked(transaction, config);
          }),
      },
    };
  };
  const [first, ...others] = schemas;
  return {
    cells: [cellOf(first, 0), ...others.map((schema, index) => cellOf(schema, index + 1))],
    // The other half of the connections is for reads by id. Each set has turns, so the look-up of a
    // key waits for a few reads at most.
    listsMax: Math.max(1, Math.floor(connections.reads / 2)),
    readsMax: Math.max(1, Math.floor(connections.reads / 2 / schemas.length)),
    ping: (now) => pingPostgres(pingPool, now),
    close: async () => {
      for (const each of [pool, commitPool, pingPool]) await each.destroy();
    },
  };
}

function connectionOf(url: string, limits: ConnectionLimits): pg.ClientConfig {
  return {
    connectionString: withoutLimits(url),
    application_name: "kesc",
    connectionTimeoutMillis: CONNECT_MILLIS_MAX,
    statement_timeout: limits.statementMillis,
    idle_in_transaction_session_timeout: limits.idleMillis,
    query_timeout: limits.queryMillis,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MILLIS,
    // Sends a statement before the earlier ones have returned. With larger batches that raised
    // 3,500 mints a second to 7,000 (docs/adr/0013).
    pipeline: true,
    types: typesWithNumbers(),
  };
}

/** Returns the schemas of the cells. The limits of the role and of the URL do not hold. */
function schemasWithin(pool: Knex, limits: ConnectionLimits): Promise<readonly [string, ...string[]]> {
  return pool.transaction(async (transaction) => {
    await transaction.raw(localSettings(limits));
    return cellSchemas((sql) => transaction.raw(sql));
  });
}

/**
 * Shares the connections: one for pings, one for the commits of each cell (but at most half of
 * them), and the rest for reads.
 */
function shareConnections(max: number, cells: number): { readonly commits: number; readonly reads: number } {
  const commits = Math.max(1, Math.min(cells, Math.floor(max / 2)));
  return { commits, reads: Math.max(1, max - 1 - commits) };
}

async function tryToWrite({ trialWrite }: Engine, transact: Transact): Promise<void> {
  await transact((session) => session.read({ sql: trialWrite, bindings: [] }));
}

/**
 * Runs the pending migrations. Frees the lock of Knex before: it is a row, which a restored dump or
 * another program may leave locked for ever. The caller holds a lock that ends with its process.
 */
async function migrateUnlocked(knex: Knex, config?: Knex.MigratorConfig): Promise<unknown> {
  await knex.migrate.forceFreeMigrationsLock(config);
  return knex.migrate.latest(config);
}

/**
 * Amounts and times are safe integers. A sum may exceed them, so the queries read sums as text.
 */
function typesWithNumbers(): pg.CustomTypesConfig {
  const types = new pg.TypeOverrides();
  types.setTypeParser(pg.types.builtins.INT8, Number);
  return types;
}

/** Returns the result of `check`. Closes the pool if `check` rejects. */
async function failingClosed<Result>(pool: Knex, check: () => PromiseLike<Result>): Promise<Result> {
  try {
    return await check();
  } catch (error) {
    await pool.destroy();
    throw error;
  }
}
