import BetterSqlite3 from "better-sqlite3";

import { APPLICATION_ID } from "./file.js";

// What durability hangs on, first of all. better-sqlite3 is compiled so that WAL mode does not sync
// on each commit unless it is told.
const SYNCHRONOUS_FULL = 2;
const SETTINGS = [
  { pragma: "journal_mode", set: "WAL", is: "wal" },
  { pragma: "synchronous", set: "FULL", is: SYNCHRONOUS_FULL },
  { pragma: "foreign_keys", set: "ON", is: 1 },
  { pragma: "busy_timeout", set: "5000", is: 5_000 }, // milliseconds; another process may be writing
  // For speed alone. A page that many commits change is copied into the file once in 16 MiB of log,
  // not once in 4.
  { pragma: "wal_autocheckpoint", set: "4096", is: 4_096 }, // pages of 4 KiB
  { pragma: "cache_size", set: "-65536", is: -65_536 }, // KiB
] as const;

/**
 * Opens the file for writing, sets what durability hangs on, and reads it back. Throws when a
 * setting did not take.
 */
export function openSqliteForWriting(filename: string): BetterSqlite3.Database {
  const connection = new BetterSqlite3(filename);
  // Before there is a log, so that it stands in the file itself. Only once: setting it is a write,
  // even to what it is.
  if (connection.pragma("application_id", { simple: true }) === 0) {
    connection.pragma(`application_id = ${String(APPLICATION_ID)}`);
  }
  for (const { pragma, set, is } of SETTINGS) {
    connection.pragma(`${pragma} = ${set}`);
    const found: unknown = connection.pragma(pragma, { simple: true });
    if (found !== is) {
      connection.close();
      throw new Error(`SQLite's ${pragma} is ${String(found)} and can't be set to ${set}: commits would not be safe`);
    }
  }
  return connection;
}
