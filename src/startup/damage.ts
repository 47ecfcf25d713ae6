import { ForeignFileError } from "../storage/sqlite/file.js";
import { failureFacts } from "./failure-facts.js";

/** What to do about a file that is not ours, or no longer whole. */
export const RESTORE =
  "Check DATABASE_URL; if the file is the right one, it is damaged: stop the servers, " +
  "move it away with its -wal and -shm files, and put the last backup in its place (docs/operations.md).";

/** Whether an error says that the database's file is not ours, or no longer whole. */
export function isDamage(error: unknown): boolean {
  return error instanceof ForeignFileError || /^SQLITE_(CORRUPT|NOTADB)/.test(failureFacts(error).code ?? "");
}
