import type { OrganizationId } from "../../domain/values/ids.js";
import type { UnixMillis } from "../../domain/values/time.js";
import type { NumberedBook } from "../../seals/ports.js";
import type { Cell } from "../database.js";
import type { BookRow } from "../sql/records/book-head-rows.js";
import { orStoreError, runAlone } from "../sql/store-error.js";

/** What is known of the seals of a book. */
export interface SealedBook extends NumberedBook {
  readonly lastSeq: number;
  /** Of the newest seal. Undefined if there is none. */
  readonly size: number | undefined;
  readonly sealedAt: number | undefined;
  /** What the alarm says that nobody has cleared. */
  readonly problem: string | undefined;
}

type SealedBookRow = Pick<BookRow, "number" | "organization_id" | "last_seq"> &
  Readonly<Record<"size" | "sealed_at", number | null>> & { readonly problem: string | null };

/** Returns all books of a cell, in the order of their numbers. */
export async function sealedBooks({ engine, reader }: Pick<Cell, "engine" | "reader">): Promise<readonly SealedBook[]> {
  const { table } = engine;
  const seals = table("seals");
  const sql = `
    SELECT b.number, b.organization_id, b.last_seq, s.size, s.sealed_at, a.problem
    FROM ${table("books")} b
    LEFT JOIN ${seals} s ON s.book = b.number
      AND s.size = (SELECT MAX(newest.size) FROM ${seals} newest WHERE newest.book = b.number)
    LEFT JOIN ${table("seal_alarms")} a ON a.book = b.number AND a.cleared_at IS NULL
    ORDER BY b.number`;
  const rows = await orStoreError(engine, reader.rows<SealedBookRow>(sql));
  return rows.map((row) => ({
    number: row.number,
    organizationId: row.organization_id as OrganizationId,
    lastSeq: row.last_seq,
    size: row.size ?? undefined,
    sealedAt: row.sealed_at ?? undefined,
    problem: row.problem ?? undefined,
  }));
}

/** Who clears an alarm, and why. */
interface Clearance {
  readonly book: NumberedBook;
  readonly person: string;
  readonly reason: string;
  readonly now: UnixMillis;
}

/** Clears the alarm of a book, so that it is sealed again. Resolves with false if it has none. */
export async function clearAlarm(
  cell: Pick<Cell, "engine" | "transact">,
  { book, person, reason, now }: Clearance,
): Promise<boolean> {
  const sql = `
    UPDATE ${cell.engine.table("seal_alarms")} SET cleared_at = ?, cleared_by = ?, clear_reason = ?
    WHERE book = ? AND cleared_at IS NULL RETURNING book`;
  return (await runAlone(cell, { sql, bindings: [now, person, reason, book.number] })).length > 0;
}
