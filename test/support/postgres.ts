import { randomBytes } from "node:crypto";

import pg from "pg";

import { type DatabaseAddress, openDatabase } from "../../src/storage/database.js";
import { migrate } from "../../src/storage/migrate.js";
import { atTheEnd } from "./at-the-end.js";
import { TEST_MASTER_KEY_FILE } from "./master-key.js";
import { PostgresNode } from "./postgres-node.js";

/** Names the server that a parent process has started. Its tests then start none of their own. */
export const POSTGRES_URL_VARIABLE = "KESC_TEST_POSTGRES_URL";

const TEMPLATE = "kesc_template";
const TEMPLATE_LOCK = 7_102_028;

// KESC refuses a PostgreSQL without fsync. But nothing needs a vacuum before the tests end, and no
// checkpoint but those of dropped databases, which keep the log short.
const SETTINGS = { autovacuum: "off", checkpoint_timeout: "1h", max_wal_size: "1GB" } as const;

/** Where tests make their databases. Several processes may use one server at a time. */
export interface Databases {
  /** Makes an empty database and returns its URL. */
  createDatabase(): Promise<string>;
  /** Makes a database with the current schema and returns its URL. */
  createMigratedDatabase(): Promise<string>;
  /** Removes a database that was made here, and ends its connections. Does nothing to another. */
  drop(databaseUrl: string): Promise<void>;
}

/**
 * A real PostgreSQL from the package registry, which belongs to the tests, on a free port of the
 * loopback interface. It ends with the process that started it, however that process ends.
 */
export interface PostgresServer extends Databases {
  /** The URL of the database in which databases are made. */
  readonly url: string;
  /** Kills the server as a power cut would. */
  crash(): Promise<void>;
  /** Starts the server again on the same data. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

let shared: Promise<Databases> | undefined;

/**
 * The server that all suites share: that of the parent process, or one that the first call starts
 * and that stops after the last test.
 */
export function sharedPostgres(): Promise<Databases> {
  const given = process.env[POSTGRES_URL_VARIABLE];
  shared ??= given === undefined ? startShared() : Promise.resolve(databasesAt(given));
  return shared;
}

async function startShared(): Promise<Databases> {
  const server = await startPostgres();
  atTheEnd(() => server.stop());
  return server;
}

export async function startPostgres(): Promise<PostgresServer> {
  const node = await PostgresNode.create();
  await node.start(SETTINGS);
  return {
    url: node.url,
    ...databasesAt(node.url),
    crash: () => node.end("SIGQUIT"),
    async restart() {
      await node.end("SIGINT");
      await node.start(SETTINGS);
    },
    async stop() {
      // An orderly shutdown would first write all the databases to the disk.
      await node.end("SIGQUIT");
      node.removeData();
    },
  };
}

function databasesAt(url: string): Databases {
  // Other processes make databases on the same server.
  const prefix = `kesc_test_${randomBytes(4).toString("hex")}`;
  let databases = 0;
  const made = new Map<string, string>();
  const create = async (template?: string): Promise<string> => {
    databases += 1;
    const name = `${prefix}_${String(databases)}`;
    await onServer(url, (client) => createDatabase(client, name, template));
    const databaseUrl = urlOf(url, name);
    made.set(databaseUrl, name);
    return databaseUrl;
  };
  let template: Promise<void> | undefined;
  return {
    createDatabase: () => create(),
    async createMigratedDatabase() {
      template ??= makeTemplate(url);
      await template;
      const migrated = await create(TEMPLATE);
      // The first connection reads the catalog. While all cores are busy, that can take longer than
      // a pool waits; a plain client waits.
      await onServer(migrated, () => Promise.resolve());
      return migrated;
    },
    async drop(databaseUrl) {
      const name = made.get(databaseUrl);
      if (name === undefined) return;
      made.delete(databaseUrl);
      await onServer(url, async (client) => {
        await client.query(`DROP DATABASE ${name} WITH (FORCE)`);
      });
    },
  };
}

/** Migrates a database once for all processes: a copy of it costs a third of a migration. */
async function makeTemplate(url: string): Promise<void> {
  await onServer(url, async (client) => {
    await client.query(`SELECT pg_advisory_lock(${String(TEMPLATE_LOCK)})`);
    const { rowCount } = await client.query("SELECT 1 FROM pg_database WHERE datname = $1", [TEMPLATE]);
    if (rowCount !== 0) return;
    // A process that was killed may have left an unfinished one.
    const unfinished = `${TEMPLATE}_unfinished`;
    await client.query(`DROP DATABASE IF EXISTS ${unfinished} WITH (FORCE)`);
    await createDatabase(client, unfinished);
    const address = { url: urlOf(url, unfinished), connectionsMax: 2, masterKeyFile: TEST_MASTER_KEY_FILE };
    await migrateAt({ engine: "postgres", ...address });
    await client.query(`ALTER DATABASE ${unfinished} RENAME TO ${TEMPLATE}`);
  });
}

/** Brings the schema of the database to the current version. */
export async function migrateAt(address: DatabaseAddress): Promise<void> {
  const database = await openDatabase(address);
  try {
    for (const cell of database.cells) await migrate(cell);
  } finally {
    await database.close();
  }
}

/** Copies the template through the log: PostgreSQL's other strategy takes two checkpoints. */
async function createDatabase(client: pg.Client, name: string, template = "template1"): Promise<void> {
  await client.query(`CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY WAL_LOG`);
}

async function onServer(url: string, work: (client: pg.Client) => Promise<void>): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}

function urlOf(serverUrl: string, database: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${database}`;
  return url.href;
}
