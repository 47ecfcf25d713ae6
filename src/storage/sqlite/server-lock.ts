import { closeSync, existsSync, openSync, realpathSync } from "node:fs";

import BetterSqlite3 from "better-sqlite3";

const OWNER_ONLY_FILE = 0o600;

/**
 * The lock that tells a server of one SQLite file that no other one is alive. The operating system
 * releases it when the process ends, however it ends. On one machine it holds across containers.
 *
 * It is SQLite's own lock of a second, empty file beside the database: Node can lock no file.
 */
export class ServerLock {
  readonly #filename: string;
  #connection: BetterSqlite3.Database | undefined;

  /** The file of the database must exist. The lock is taken when it is asked for first. */
  constructor(databaseFile: string) {
    this.#filename = `${realpathSync(databaseFile)}-lock`;
  }

  /** Returns whether this process has the lock. Takes it if it is free. */
  take(): boolean {
    this.#connection ??= locked(this.#filename);
    return this.#connection !== undefined;
  }

  release(): void {
    this.#connection?.close();
    this.#connection = undefined;
  }
}

function locked(filename: string): BetterSqlite3.Database | undefined {
  // Only if it is missing: closing an open file would drop the lock of another server in this
  // process. That is a rule of POSIX.
  if (!existsSync(filename)) closeSync(openSync(filename, "a", OWNER_ONLY_FILE));
  const connection = new BetterSqlite3(filename, { timeout: 0 });
  try {
    connection.exec("BEGIN EXCLUSIVE");
    return connection;
  } catch (error) {
    connection.close();
    if (error instanceof BetterSqlite3.SqliteError && error.code.startsWith("SQLITE_BUSY")) return undefined;
    throw error;
  }
}
