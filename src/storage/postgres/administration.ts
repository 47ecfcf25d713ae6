import pg from "pg";

import { withoutLimits } from "./address.js";

const CONNECT_MILLIS_MAX = 3_000;

// The number has no meaning. Other programs of the same database must not use it.
const MIGRATION_LOCK = 5_002_355_672;

/** Calls `work` with a connection of its own, which has none of the limits of a server. */
export async function withConnection<Result>(
  url: string,
  work: (client: pg.Client) => Promise<Result>,
): Promise<Result> {
  const client = await connect(url);
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** The backend of PostgreSQL that holds the migration lock. */
export interface LockHolder {
  readonly pid: number;
  readonly application: string;
  /** The time at which its connection began. Null if this role may not see it. */
  readonly since: Date | null;
}

const LOCK_HOLDER = `
  SELECT l.pid, a.application_name AS application, a.backend_start AS since
  FROM pg_catalog.pg_locks l JOIN pg_catalog.pg_stat_activity a ON a.pid = l.pid
  WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1
    AND l.database = (SELECT oid FROM pg_catalog.pg_database WHERE datname = current_database())
    AND (l.classid::bigint << 32 | l.objid::bigint) = ${String(MIGRATION_LOCK)}`;

/**
 * Waits until no other process holds the migration lock, and takes it. Calls `onWait` if another
 * process holds it, with its backend unless it has just ended. Returns the function that releases
 * the lock.
 */
export async function takeMigrationLock(
  url: string,
  onWait: (holder: LockHolder | undefined) => void,
): Promise<() => Promise<void>> {
  const client = await connect(url);
  try {
    // The lock belongs to a transaction, and not to the session: a pooler may give the session to
    // others.
    await client.query("BEGIN; SET LOCAL idle_in_transaction_session_timeout = 0; SET LOCAL statement_timeout = 0");
    const taken = await client.query<{ readonly taken: boolean }>(
      `SELECT pg_try_advisory_xact_lock(${String(MIGRATION_LOCK)}) AS taken`,
    );
    if (taken.rows[0]?.taken !== true) {
      const { rows } = await client.query<LockHolder>(LOCK_HOLDER);
      onWait(rows[0]);
      await client.query(`SELECT pg_advisory_xact_lock(${String(MIGRATION_LOCK)})`);
    }
    return () => client.end();
  } catch (error) {
    await client.end();
    throw error;
  }
}

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({
    connectionString: withoutLimits(url),
    application_name: "kesc",
    connectionTimeoutMillis: CONNECT_MILLIS_MAX,
    keepAlive: true,
  });
  // Without a listener, the loss of an idle connection would end the process.
  client.on("error", () => undefined);
  await client.connect();
  return client;
}
