import { setTimeout as sleep } from "node:timers/promises";

import BetterSqlite3 from "better-sqlite3";

import { withConnection } from "./postgres/administration.js";
import type { Engine } from "./sql/engine.js";

// A checkpoint holds the write lock while it waits for readers. So it waits briefly, and often.
const CHECKPOINT_WAIT_MILLIS_MAX = 200;
const CHECKPOINT_PAUSE_MILLIS = 500;

/**
 * Removes old bytes from the log of an SQLite file: copies the log into the file, and cuts the log
 * to no bytes. Retries while another connection reads an older state.
 *
 * Returns false if the log still has bytes after `retryMillisMax`.
 */
export async function truncateLog(filename: string, { retryMillisMax }: { retryMillisMax: number }): Promise<boolean> {
  const deadline = Date.now() + retryMillisMax;
  const connection = new BetterSqlite3(filename, { fileMustExist: true, timeout: CHECKPOINT_WAIT_MILLIS_MAX });
  try {
    while (!isTruncated(connection)) {
      if (Date.now() + CHECKPOINT_PAUSE_MILLIS > deadline) return false;
      await sleep(CHECKPOINT_PAUSE_MILLIS);
    }
    return true;
  } finally {
    connection.close();
  }
}

function isTruncated(connection: BetterSqlite3.Database): boolean {
  // This copies most pages without a lock. TRUNCATE then holds the write lock briefly.
  connection.pragma("wal_checkpoint(PASSIVE)");
  return connection.pragma("wal_checkpoint(TRUNCATE)", { simple: true }) === 0;
}

/** This user may not vacuum the table. */
export class NotVacuumedError extends Error {}

// While VACUUM waits for its lock, all calls that touch the table wait behind it.
const VACUUM_LOCK_MILLIS_MAX = 3_000;

/** The tables that hold a person's data, or held it for a while. */
const PERSONAL_TABLES = ["account_holders", "payments", "deposits", "destinations"];

/**
 * Writes the tables of personal data and their indexes anew, without the bytes of rows that an
 * erasure changed. Calls that touch such a table wait.
 *
 * Rejects with a NotVacuumedError, and with the driver's error 55P03 if it does not get its lock.
 */
export async function vacuumPersonalData(url: string, { table }: Pick<Engine, "table">): Promise<void> {
  await withConnection(url, async (client) => {
    const fileOf = async (name: string): Promise<unknown> => {
      const { rows } = await client.query<{ readonly file: unknown }>("SELECT pg_relation_filenode($1) AS file", [
        name,
      ]);
      return rows[0]?.file;
    };
    for (const name of PERSONAL_TABLES.map(table)) {
      const before = await fileOf(name);
      await client.query(`SET statement_timeout = 0; SET lock_timeout = ${String(VACUUM_LOCK_MILLIS_MAX)}`);
      try {
        await client.query(`VACUUM (FULL) ${name}`);
      } finally {
        // A pooler may give the session to others.
        await client.query("RESET statement_timeout; RESET lock_timeout");
      }
      // PostgreSQL only warns a user who lacks the right, and skips the table.
      if ((await fileOf(name)) === before) throw new NotVacuumedError(name);
    }
  });
}
