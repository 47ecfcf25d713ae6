import { toUnixMillis, type UnixMillis } from "../../domain/values/time.js";
import { orStoreError } from "../sql/store-error.js";
import type { DiagnosedCell } from "./diagnosed.js";

/**
 * Returns the time of the newest row in the books of a cell, without those whose time an operator
 * has accepted. Undefined if there is none.
 */
export async function newestRowAt({ engine, reader }: DiagnosedCell): Promise<UnixMillis | undefined> {
  const sql = `
    SELECT MAX(last_recorded_at) AS newest FROM ${engine.table("books")}
    WHERE clock_accepted_at IS NULL OR last_recorded_at > clock_accepted_at + 60000`;
  const [row] = await orStoreError(engine, reader.rows<{ readonly newest: number | null }>(sql));
  const newest = row?.newest ?? undefined;
  return newest === undefined ? undefined : toUnixMillis(newest);
}

/** Returns the number of books of a cell that a person has not activated after a restore. */
export async function restoredBooks({ engine, reader }: DiagnosedCell): Promise<number> {
  const sql = `SELECT COUNT(*) AS books FROM ${engine.table("books")} WHERE state = 'RESTORED'`;
  const [row] = await orStoreError(engine, reader.rows<{ readonly books: number }>(sql));
  return row?.books ?? 0;
}

/** Returns the signed notes of the newest seals of at most 100 books of a cell. */
export async function newestSealNotes({ engine, reader }: DiagnosedCell): Promise<readonly string[]> {
  const seals = engine.table("seals");
  const sql = `
    SELECT s.note FROM ${engine.table("books")} b JOIN ${seals} s ON s.book = b.number
      AND s.size = (SELECT MAX(newest.size) FROM ${seals} newest WHERE newest.book = b.number)
    ORDER BY b.number DESC LIMIT 100`;
  return (await orStoreError(engine, reader.rows<{ readonly note: string }>(sql))).map(({ note }) => note);
}

/** Returns the number of books of a cell with an alarm that nobody has cleared. */
export async function openAlarms({ engine, reader }: DiagnosedCell): Promise<number> {
  const sql = `SELECT COUNT(*) AS alarms FROM ${engine.table("seal_alarms")} WHERE cleared_at IS NULL`;
  const [row] = await orStoreError(engine, reader.rows<{ readonly alarms: number }>(sql));
  return row?.alarms ?? 0;
}
