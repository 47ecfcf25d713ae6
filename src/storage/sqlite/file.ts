import { closeSync, openSync, readSync, statSync } from "node:fs";

import BetterSqlite3 from "better-sqlite3";

/**
 * "KESC" in ASCII. The header of an SQLite file names the application that owns it
 * (https://www.sqlite.org/fileformat.html#application_id).
 */
export const APPLICATION_ID = 0x4b455343;

/** The file exists, but it is not a KESC database. The message says what it is. */
export class ForeignFileError extends Error {}

/** The file has our tables, and not our application id. The message says what to do. */
class LostApplicationIdError extends Error {}

/** There is no such file. */
export class MissingFileError extends Error {}

/** The thread of the file did not get to its work in time. Nothing is known about the file. */
export class BusyMachineError extends Error {}

const HEADER_BYTES = 100;
const HEADER_BEGINS = Buffer.from("SQLite format 3\0");
const APPLICATION_ID_AT = 68;

/**
 * Throws a ForeignFileError, or a LostApplicationIdError, unless the file is a KESC database, or
 * does not exist yet. Must run before the file is opened for writing, because opening already
 * changes it. Never changes the file itself.
 */
export function refuseForeignFile(filename: string): void {
  const file = statSync(filename, { throwIfNoEntry: false });
  if (file !== undefined && !file.isFile()) throw new ForeignFileError("it is not a file");
  if (file === undefined || file.size === 0) {
    refuseOrphanedLog(filename);
    return;
  }
  const header = headerOf(filename);
  if (header.length < HEADER_BYTES || !header.subarray(0, HEADER_BEGINS.length).equals(HEADER_BEGINS)) {
    throw new ForeignFileError("it is not an SQLite database");
  }
  const applicationId = header.readUInt32BE(APPLICATION_ID_AT);
  // 0 means that no application set an id.
  if (applicationId === 0) refuseForeignTables(filename);
  else if (applicationId !== APPLICATION_ID) throw new ForeignFileError("it belongs to another application");
}

/**
 * A log without its database shows that the database file was lost. Throws, because SQLite would
 * delete the log.
 */
function refuseOrphanedLog(filename: string): void {
  const log = statSync(`${filename}-wal`, { throwIfNoEntry: false });
  if (log !== undefined && log.size > 0) {
    throw new ForeignFileError(`it is missing or empty, but its log ${filename}-wal exists`);
  }
}

function headerOf(filename: string): Buffer {
  const file = openSync(filename, "r");
  try {
    const header = Buffer.alloc(HEADER_BYTES);
    return header.subarray(0, readSync(file, header, 0, HEADER_BYTES, 0));
  } finally {
    closeSync(file);
  }
}

function refuseForeignTables(filename: string): void {
  const connection = new BetterSqlite3(filename, { readonly: true });
  try {
    const tables = connection.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").pluck().all();
    if (["knex_migrations", "journal", "books"].every((name) => tables.includes(name))) {
      throw new LostApplicationIdError(
        "it has the tables of KESC and no application id, which sqlite3's .dump does not keep. If it is the right copy: " +
          `sqlite3 FILE "PRAGMA application_id = ${String(APPLICATION_ID)}", and then kesc verify`,
      );
    }
    if (tables.length > 0) throw new ForeignFileError("it belongs to another application");
  } finally {
    connection.close();
  }
}
