import { ForeignFileError } from "../storage/sqlite/file.js";
import { failureFacts } from "./failure-facts.js";

/** Advice for a database file that is damaged or does not belong to KESC. */
export const RESTORE =
  "Check DATABASE_URL. If the file is the right one, it is damaged: stop the servers, move it away " +
  "with its -wal and -shm files, and restore the last backup (docs/operations.md).";

/** Returns whether the error says that the database file is damaged or does not belong to KESC. */
export function isDamage(error: unknown): boolean {
  return error instanceof ForeignFileError || /^SQLITE_(CORRUPT|NOTADB)/.test(failureFacts(error).code ?? "");
}
