import type { BookState } from "../domain/book.js";
import type { OrganizationId } from "../domain/values/ids.js";
import { toUnixMillis, type UnixMillis } from "../domain/values/time.js";
import type { RowOf } from "../model/column.js";
import type { ORGANIZATIONS } from "../model/organizations.js";
import type { ListedBook } from "../operators/reads.js";
import type { Cell, Database } from "./database.js";
import { type BookMove, moveOf, type MoveRow, stateWrite } from "./moves/book-moves.js";
import { belongsTo, MOVED_TABLES } from "./moves/tables.js";
import { keysOfBooks } from "./organizations/whole.js";
import { isOwnRow } from "./sql/organization-rows.js";
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
  Omit<MoveRow, "phase"> &
  RowOf<typeof ORGANIZATIONS, Uint8Array> & { readonly phase: string | null };

/** Whether to check the rows of the organizations. That needs the master key. */
export interface ListBooksOptions {
  readonly areChecked: boolean;
}

type BookCells = Pick<Database, "cells">;

/** Returns all books, in the order of their cells and numbers. */
export async function listBooks(
  { cells }: BookCells,
  options: ListBooksOptions = { areChecked: false },
): Promise<readonly BookSummary[]> {
  const books = await Promise.all(cells.map((cell) => booksOf(cell, options)));
  return books.flat();
}

async function booksOf(
  { number: cell, engine, reader, directory }: Cell,
  { areChecked }: ListBooksOptions,
): Promise<readonly BookSummary[]> {
  const rows = await orStoreError(
    engine,
    reader.rows<SummaryRow>(`
      SELECT o.*, b.organization_id, b.number, b.state, b.suspended_seq, b.last_seq, b.last_recorded_at, b.reserve_cents,
        m.move_id, m.phase, m.root, m.file_sha256, m.arrival_id, m.rows_done, m.moved_to
      FROM ${engine.table("books")} b JOIN ${engine.table("organizations")} o ON o.id = b.organization_id
      LEFT JOIN ${engine.table("book_moves")} m ON m.book = b.number
      ORDER BY b.number`),
  );
  const ids = areChecked ? rows.map((row) => row.organization_id as OrganizationId) : [];
  const keys = await orStoreError(
    engine,
    keysOfBooks(directory, ids, ({ sql, bindings }) => reader.rows(sql, bindings)),
  );
  return rows.map((row) => ({
    organizationId: row.organization_id as OrganizationId,
    name: row.name,
    isChanged: areChecked && !isOwnRow(row, keys.get(row.organization_id)),
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
 * Makes the work of a book due at once that a wrong clock has put off: each column of the model
 * that is `due`. Returns how much of it was put off.
 */
export function wakeWork(
  cell: Cell,
  { number, organizationId }: Pick<BookSummary, "number" | "organizationId">,
  now: UnixMillis,
): Promise<number> {
  const { engine } = cell;
  return inTransaction(cell, async (session) => {
    let woken = 0;
    for (const { name, owner, due } of MOVED_TABLES) {
      const { sql: isOfBook, bindings } = belongsTo(engine, { owner }, { number, organizationId });
      for (const column of due) {
        const sql = `
          UPDATE ${engine.table(name)} AS x SET ${column} = ? WHERE x.${column} > ? AND ${isOfBook}
          RETURNING ${column}`;
        woken += (await session.read({ sql, bindings: [now, now, ...bindings] })).length;
      }
    }
    return woken;
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
