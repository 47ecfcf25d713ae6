import BetterSqlite3 from "better-sqlite3";

import { APPLICATION_ID } from "./file.js";

// The first two settings make commits durable. Without `synchronous`, the build of better-sqlite3
// does not sync each commit in WAL mode.
const SYNCHRONOUS_FULL = 2;
const SETTINGS = [
  { pragma: "journal_mode", set: "WAL", is: "wal" },
  { pragma: "synchronous", set: "FULL", is: SYNCHRONOUS_FULL },
  { pragma: "foreign_keys", set: "ON", is: 1 },
  { pragma: "busy_timeout", set: "5000", is: 5_000 }, // milliseconds; another process may be writing
  { pragma: "secure_delete", set: "ON", is: 1 }, // an erasure overwrites what it deletes
  // The last two settings only affect speed. With 16 MiB of log between checkpoints, SQLite copies
  // a hot page a quarter as often as with 4 MiB.
  { pragma: "wal_autocheckpoint", set: "4096", is: 4_096 }, // pages of 4 KiB
  { pragma: "cache_size", set: "-65536", is: -65_536 }, // KiB
] as const;

const BUSY_MILLIS_MAX = 5_000;
const BUSY_PAUSE_MILLIS = 10;

// A reader waits only while SQLite resets or recovers the log.
const READER_BUSY_MILLIS_MAX = 5_000;

/** Opens the file for reading. Throws if SQLite cannot open it. */
export function openSqliteForReading(filename: string): BetterSqlite3.Database {
  return new BetterSqlite3(filename, { readonly: true, timeout: READER_BUSY_MILLIS_MAX });
}

/**
 * Opens the file for writing. Applies the settings and reads them back. Throws if SQLite did not
 * apply one.
 */
export function openSqliteForWriting(filename: string): BetterSqlite3.Database {
  const connection = new BetterSqlite3(filename);
  try {
    whileBusy(() => {
      applySettings(connection);
    });
    return connection;
  } catch (error) {
    connection.close();
    throw error;
  }
}

/**
 * Repeats `work` while other processes hold the lock of the file. SQLite itself does not wait when
 * it changes a new file to WAL mode: two processes that wait there would deadlock.
 */
function whileBusy(work: () => void): void {
  const giveUpAt = Date.now() + BUSY_MILLIS_MAX;
  for (;;) {
    try {
      work();
      return;
    } catch (error) {
      const isBusy = error instanceof BetterSqlite3.SqliteError && error.code.startsWith("SQLITE_BUSY");
      if (!isBusy || Date.now() >= giveUpAt) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, BUSY_PAUSE_MILLIS);
    }
  }
}

function applySettings(connection: BetterSqlite3.Database): void {
  // Runs before WAL mode, so that SQLite writes the id into the file itself, not into the log. Runs
  // once, because setting the same id is also a write.
  if (connection.pragma("application_id", { simple: true }) === 0) {
    connection.pragma(`application_id = ${String(APPLICATION_ID)}`);
  }
  for (const { pragma, set, is } of SETTINGS) {
    connection.pragma(`${pragma} = ${set}`);
    const found: unknown = connection.pragma(pragma, { simple: true });
    if (found !== is) throw new Error(`SQLite did not apply the setting ${pragma} = ${set}: it is ${String(found)}`);
  }
}
