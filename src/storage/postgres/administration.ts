import pg from "pg";

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

/**
 * Waits until no other process holds the migration lock, and takes it. Calls `onWait` if another
 * process holds it. Returns the function that releases the lock.
 */
export async function takeMigrationLock(url: string, onWait: () => void): Promise<() => Promise<void>> {
  const client = await connect(url);
  try {
    // The lock belongs to a transaction, and not to the session: a pooler may give the session to
    // others.
    await client.query("BEGIN; SET LOCAL idle_in_transaction_session_timeout = 0; SET LOCAL statement_timeout = 0");
    const taken = await client.query<{ readonly taken: boolean }>(
      `SELECT pg_try_advisory_xact_lock(${String(MIGRATION_LOCK)}) AS taken`,
    );
    if (taken.rows[0]?.taken !== true) {
      onWait();
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

/** The limits in the URL are for the calls of a server. */
function withoutLimits(text: string): string {
  const url = new URL(text);
  for (const name of ["query_timeout", "statement_timeout"]) url.searchParams.delete(name);
  return url.href;
}
