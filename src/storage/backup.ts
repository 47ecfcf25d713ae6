import { statSync } from "node:fs";

import type { Cell } from "./database.js";
import { masterKeysIn } from "./secrets/master-key.js";
import { openSqliteForReading } from "./sqlite/connection.js";
import { sqliteEngine } from "./sqlite/engine.js";
import { SqliteReader } from "./sqlite/reader.js";

/** The size of the -wal file before and after a copy. No checkpoint can empty it meanwhile. */
export interface LogBytes {
  readonly before: number;
  readonly after: number;
}

/**
 * Copies an SQLite database as it is at this moment into an empty file, which must exist. Other
 * processes keep writing: the copy reads one snapshot, and so it ends. (The backup API of SQLite
 * starts again whenever another connection has written: ADR 25.)
 *
 * The copy has no deleted bytes and no log of its own. It is not synced to disk. The call blocks
 * this thread. Throws the error of SQLite, and may leave a part of the copy.
 */
export function copySqliteInto(target: string, filename: string): LogBytes {
  const before = logBytesOf(filename);
  const connection = openSqliteForReading(filename);
  try {
    connection.prepare("VACUUM INTO ?").run(target);
    return { before, after: logBytesOf(filename) };
  } finally {
    connection.close();
  }
}

function logBytesOf(filename: string): number {
  return statSync(`${filename}-wal`, { throwIfNoEntry: false })?.size ?? 0;
}

/** A copy of an SQLite database. Reading it changes no byte of the file. */
export interface SqliteCopy {
  readonly cells: readonly [Pick<Cell, "engine" | "reader" | "masterKeys">];
  close(): Promise<void>;
}

/** Throws the error of SQLite if the file cannot be read. */
export function openSqliteCopy(filename: string, masterKeyFile: string): SqliteCopy {
  const reader = new SqliteReader(filename);
  return {
    cells: [{ engine: sqliteEngine, reader, masterKeys: masterKeysIn(masterKeyFile) }],
    close: () => reader.close(),
  };
}
