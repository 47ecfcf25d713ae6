import type { BookState } from "../domain/book.js";
import type { OrganizationId } from "../domain/values/ids.js";
import { toUnixMillis, type UnixMillis } from "../domain/values/time.js";
import type { ListedBook } from "../operators/reads.js";
import type { Cell, Database } from "./database.js";
import { type BookMove, moveOf, type MoveRow, stateWrite } from "./moves/book-moves.js";
import type { BookRow } from "./sql/records/book-head-rows.js";
import { inTransaction, orStoreError } from "./sql/store-error.js";

/** What the commands see of a book. */
export interface BookSummary extends ListedBook {
  /** The shillings that the book says are there. */
  readonly reserveCents: number;
  readonly move: BookMove | undefined;
}

type SummaryRow = Pick<
  BookRow,
  "organization_id" | "number" | "state" | "suspended_seq" | "last_seq" | "last_recorded_at" | "reserve_cents"
> &
  Omit<MoveRow, "phase"> & { readonly name: string; readonly phase: string | null };

type BookCells = Pick<Database, "cells">;

/** Returns all books, in the order of their cells and numbers. */
export async function listBooks({ cells }: BookCells): Promise<readonly BookSummary[]> {
  const books = await Promise.all(cells.map(booksOf));
  return books.flat();
}

async function booksOf({ number: cell, engine, reader }: Cell): Promise<readonly BookSummary[]> {
  const rows = await orStoreError(
    engine,
    reader.rows<SummaryRow>(`
      SELECT b.organization_id, o.name, b.number, b.state, b.suspended_seq, b.last_seq, b.last_recorded_at, b.reserve_cents,
        m.move_id, m.phase, m.root, m.file_sha256, m.arrival_id, m.rows_done, m.moved_to
      FROM ${engine.table("books")} b JOIN ${engine.table("organizations")} o ON o.id = b.organization_id
      LEFT JOIN ${engine.table("book_moves")} m ON m.book = b.number
      ORDER BY b.number`),
  );
  return rows.map((row) => ({
    organizationId: row.organization_id as OrganizationId,
    name: row.name,
    cell,
    number: row.number,
    state: row.state as BookState,
    isSuspended: row.suspended_seq !== null,
    lastSeq: row.last_seq,
    lastRecordedAt: toUnixMillis(row.last_recorded_at),
    reserveCents: row.reserve_cents,
    move: row.phase === null ? undefined : moveOf({ ...row, phase: row.phase }),
  }));
}

/**
 * Sets all open books to RESTORED. Books that move, or have moved, stay as they are: another cell
 * may have them, and two copies must not take commands. Returns the number of books that it set.
 */
export async function markBooksRestored({ cells }: BookCells): Promise<number> {
  let count = 0;
  for (const cell of cells) {
    count += await inTransaction(cell, async (session) => {
      const { engine } = cell;
      const books = engine.table("books");
      const sql = `SELECT number FROM ${books} WHERE state = 'OPEN' ORDER BY number ${engine.forUpdate}`;
      const open = await session.read<{ readonly number: number }>({ sql, bindings: [] });
      await session.write([stateWrite(engine, open, "RESTORED")]);
      return open.length;
    });
  }
  return count;
}

/**
 * Opens a restored book. A book in another state stays as it is. Returns the state in which the
 * book was, or undefined if the cell has no such book.
 */
export function activateBook(cell: Cell, organizationId: OrganizationId): Promise<BookState | undefined> {
  return inTransaction(cell, async (session) => {
    const { engine } = cell;
    const sql = `SELECT number, state FROM ${engine.table("books")} WHERE organization_id = ? ${engine.forUpdate}`;
    const [book] = await session.read<Pick<BookRow, "number" | "state">>({ sql, bindings: [organizationId] });
    if (book?.state === "RESTORED") await session.write([stateWrite(engine, [book], "OPEN")]);
    return book?.state as BookState | undefined;
  });
}

/**
 * Accepts the time of a book's newest row, which a wrong clock has written: the book goes on with
 * that time until the clock has passed it. Returns that time, or undefined if the cell has no such
 * book.
 */
export function acceptClock(cell: Cell, organizationId: OrganizationId): Promise<UnixMillis | undefined> {
  return inTransaction(cell, async (session) => {
    const sql = `
      UPDATE ${cell.engine.table("books")} SET clock_accepted_at = last_recorded_at WHERE organization_id = ?
      RETURNING clock_accepted_at`;
    const [row] = await session.read<{ readonly clock_accepted_at: number } | undefined>({
      sql,
      bindings: [organizationId],
    });
    return row === undefined ? undefined : toUnixMillis(row.clock_accepted_at);
  });
}
