import { constants, copyFileSync, mkdirSync, mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import BetterSqlite3 from "better-sqlite3";
import pg from "pg";

import { readConfig } from "../../src/startup/config.js";
import { type Cell, type Database, type DatabaseAddress, openDatabase } from "../../src/storage/database.js";
import { atTheEnd } from "./at-the-end.js";
import { TEST_MASTER_KEY_FILE } from "./master-key.js";
import { migrateAt, sharedPostgres } from "./postgres.js";
import { byStage } from "./stage.js";

const OWNER_ONLY_FOLDER = 0o700;

/** A database that belongs to one test. */
export interface TestDatabase {
  readonly address: DatabaseAddress;
  /** The value for DATABASE_URL. */
  readonly url: string;
  readonly database: Database;
  /** The first cell. */
  readonly cell: Cell;
  dispose(): Promise<void>;
}

/** Both engines: a rule that holds on one must hold on the other. */
export const ENGINES = ["sqlite", "postgres"] as const;

/** For slow suites: SQLite in `make test`, both engines in `make check`. */
export const ENGINES_OF_STAGE = byStage<readonly (typeof ENGINES)[number][]>({ test: ["sqlite"], check: ENGINES });

/** Makes an empty database with the current schema. */
export async function openTestDatabase(engine: (typeof ENGINES)[number]): Promise<TestDatabase> {
  const place = engine === "sqlite" ? await migratedSqlite() : await migratedPostgres();
  const { address, url, remove } = place;
  const database = await openDatabase(address);
  return {
    address,
    url,
    database,
    cell: database.cells[0],
    async dispose() {
      await database.close();
      await remove();
    },
  };
}

/** The database of a suite: opened before its first hook, disposed of after its last test. */
export function databaseOfSuite(engine: (typeof ENGINES)[number]): TestDatabase {
  let opened: TestDatabase | undefined;
  before(async () => {
    opened = await openTestDatabase(engine);
  });
  after(() => opened?.dispose());
  return presentOf(() => opened);
}

/** The same, with another database for each test. */
export function databaseOfEachTest(engine: (typeof ENGINES)[number]): TestDatabase {
  let opened: TestDatabase | undefined;
  beforeEach(async () => {
    opened = await openTestDatabase(engine);
  });
  afterEach(() => opened?.dispose());
  return presentOf(() => opened);
}

function presentOf(opened: () => TestDatabase | undefined): TestDatabase {
  const present = (): TestDatabase => {
    const database = opened();
    if (database === undefined) throw new Error("asked for the database before a hook has opened it");
    return database;
  };
  return {
    get address() {
      return present().address;
    },
    get url() {
      return present().url;
    },
    get database() {
      return present().database;
    },
    get cell() {
      return present().cell;
    },
    dispose: () => present().dispose(),
  };
}

/** Opens the database at a URL as DATABASE_URL takes it. */
export function openDatabaseAt(url: string): Promise<Database> {
  const result = readConfig({ DATABASE_URL: url, KESC_MASTER_KEY_FILE: TEST_MASTER_KEY_FILE });
  if (!result.ok) throw new Error(result.problems.join("\n"));
  return openDatabase(result.config.database);
}

interface Place {
  readonly address: DatabaseAddress;
  readonly url: string;
  readonly remove: () => Promise<void>;
}

/** Puts a database with the current schema where no file is yet. */
export async function putMigratedSqlite(filename: string): Promise<void> {
  const template = await (sqliteTemplate ??= makeSqliteTemplate());
  mkdirSync(dirname(filename), { recursive: true, mode: OWNER_ONLY_FOLDER });
  copyFileSync(template, filename, constants.COPYFILE_EXCL);
}

/** Each database is a copy of one file, which costs less than its migrations. */
async function migratedSqlite(): Promise<Place> {
  const folder = mkdtempSync(join(tmpdir(), "kesc-test-"));
  const filename = join(folder, "kesc.db");
  await putMigratedSqlite(filename);
  return {
    address: { engine: "sqlite", filename, masterKeyFile: TEST_MASTER_KEY_FILE },
    url: `sqlite:${filename}`,
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

let sqliteTemplate: Promise<string> | undefined;

async function makeSqliteTemplate(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "kesc-test-"));
  atTheEnd(() => rm(folder, { recursive: true, force: true }));
  const filename = join(folder, "template.db");
  // Closing the database copies its log into the file.
  await migrateAt({ engine: "sqlite", filename, masterKeyFile: TEST_MASTER_KEY_FILE });
  return filename;
}

async function migratedPostgres(): Promise<Place> {
  const postgres = await sharedPostgres();
  const url = await postgres.createMigratedDatabase();
  const address = { engine: "postgres", url, connectionsMax: 10, masterKeyFile: TEST_MASTER_KEY_FILE } as const;
  return { address, url, remove: () => postgres.drop(url) };
}

/** The parts of an address that a connection of its own needs. */
type Reachable =
  { readonly engine: "sqlite"; readonly filename: string } | { readonly engine: "postgres"; readonly url: string };

/**
 * Runs statements past the service, on a connection of their own, as an operator at the database
 * would. Returns the rows of the last.
 */
export async function execute<Row>(address: Reachable, ...statements: readonly string[]): Promise<Row[]> {
  return address.engine === "sqlite"
    ? executeOnSqlite<Row>(address.filename, statements)
    : executeOnPostgres<Row>(address.url, statements);
}

// A server in this process may hold the lock. It goes on only while nothing here waits for it.
const BUSY_MILLIS = 50;
const BUSY_TRIES_MAX = 100;

async function executeOnSqlite<Row>(filename: string, statements: readonly string[]): Promise<Row[]> {
  const connection = new BetterSqlite3(filename, { timeout: BUSY_MILLIS });
  const run = async (sql: string, tries = 1): Promise<unknown[] | undefined> => {
    try {
      const statement = connection.prepare(sql);
      if (statement.reader) return statement.all();
      statement.run();
      return undefined;
    } catch (error) {
      const isBusy = error instanceof BetterSqlite3.SqliteError && error.code.startsWith("SQLITE_BUSY");
      if (!isBusy || tries === BUSY_TRIES_MAX) throw error;
      await sleep(BUSY_MILLIS);
      return run(sql, tries + 1);
    }
  };
  try {
    let rows: unknown[] = [];
    for (const sql of statements) rows = (await run(sql)) ?? rows;
    return rows as Row[];
  } finally {
    connection.close();
  }
}

async function executeOnPostgres<Row>(url: string, statements: readonly string[]): Promise<Row[]> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    let rows: unknown[] = [];
    for (const sql of statements) ({ rows } = await client.query(sql));
    return rows as Row[];
  } finally {
    await client.end();
  }
}
