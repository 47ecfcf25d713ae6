import { closeSync, openSync, readSync, statSync } from "node:fs";

import BetterSqlite3 from "better-sqlite3";

/**
 * "KESC": by this SQLite's header says whose file it is
 * (https://www.sqlite.org/fileformat.html#application_id).
 */
export const APPLICATION_ID = 0x4b455343;

/** What the file is, in place of one of ours. */
export class ForeignFileError extends Error {}

const HEADER_BYTES = 100;
const HEADER_BEGINS = Buffer.from("SQLite format 3\0");
const APPLICATION_ID_AT = 68;

/**
 * Throws a ForeignFileError unless the file is a database of ours, or none yet. Goes before
 * whatever would write: opening a database for writing already changes it. Never changes the file.
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
    throw new ForeignFileError("it is not a database of SQLite");
  }
  const applicationId = header.readUInt32BE(APPLICATION_ID_AT);
  // Whoever made the file before we wrote this number, or never says who they are.
  if (applicationId === 0) refuseForeignTables(filename);
  else if (applicationId !== APPLICATION_ID) throw new ForeignFileError("it is the database of another application");
}

/** A log without its database is what is left when the file was lost; SQLite would delete it. */
function refuseOrphanedLog(filename: string): void {
  const log = statSync(`${filename}-wal`, { throwIfNoEntry: false });
  if (log !== undefined && log.size > 0) {
    throw new ForeignFileError(`it is empty or gone, but ${filename}-wal, which belongs to it, is not`);
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
    if (tables.length === 0) return;
    const isOurs =
      tables.includes("knex_migrations") &&
      connection.prepare("SELECT 1 FROM knex_migrations WHERE name = '0001-organizations'").get() !== undefined;
    if (!isOurs) throw new ForeignFileError("it is the database of another application");
  } finally {
    connection.close();
  }
}
