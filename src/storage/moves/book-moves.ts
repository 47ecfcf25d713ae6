import { randomBytes } from "node:crypto";

import type { BookState, MovePhase } from "../../domain/book.js";
import type { OrganizationId } from "../../domain/values/ids.js";
import type { UnixMillis } from "../../domain/values/time.js";
import { type InsertedRow, insertedTypesOf, type RowOf, typesOf } from "../../model/column.js";
import { BOOK_MOVES } from "../../model/database.js";
import { BOOKS } from "../../model/organizations.js";
import type { Cell } from "../database.js";
import type { Engine, Session, Write } from "../sql/engine.js";
import { insertOf } from "../sql/insert.js";
import type { BookRow } from "../sql/records/book-head-rows.js";
import { inTransaction, RefusedWriteError } from "../sql/store-error.js";
import type { MovedBook } from "./tables.js";

/** The move of a book, as one of its two places knows it. */
export interface BookMove {
  /** Both places have the same. */
  readonly moveId: string;
  readonly phase: MovePhase;
  /** The root of the tree over all rows, in hexadecimal. Undefined before it is known. */
  readonly root: string | undefined;
  readonly fileSha256: string | undefined;
  /** Names the import to which the book goes. Undefined at the old place before the release. */
  readonly arrivalId: string | undefined;
  readonly rowsDone: number;
  readonly movedTo: string | undefined;
}

/** A book that this transaction has locked. */
export interface LockedMove extends MovedBook {
  readonly organizationId: OrganizationId;
  readonly state: BookState;
  readonly lastSeq: number;
  readonly move: BookMove | undefined;
}

/** The book is not in a state that allows the step. Nothing was changed. */
export class MoveError extends RefusedWriteError {}

type MovingCell = Pick<Cell, "engine" | "transact">;

export type MoveRow = Omit<RowOf<typeof BOOK_MOVES>, "book" | "changed_at">;

const MOVE_ID_BYTES = 16;

const MOVE_COLUMNS = insertedTypesOf(BOOK_MOVES);
const STATE_COLUMNS = typesOf(BOOKS, ["number", "state"]);

/** Locks a book. Returns undefined if the cell has none. */
export async function lockMove(
  { engine: { table, forUpdate } }: Pick<Cell, "engine">,
  session: Session,
  organizationId: OrganizationId,
): Promise<LockedMove | undefined> {
  const [book] = await session.read<Pick<BookRow, "number" | "state" | "last_seq">>({
    sql: `SELECT number, state, last_seq FROM ${table("books")} WHERE organization_id = ? ${forUpdate}`,
    bindings: [organizationId],
  });
  if (book === undefined) return undefined;
  const [row] = await session.read<MoveRow>({
    sql: `SELECT * FROM ${table("book_moves")} WHERE book = ?`,
    bindings: [book.number],
  });
  return {
    organizationId,
    number: book.number,
    state: book.state as BookState,
    lastSeq: book.last_seq,
    move: row === undefined ? undefined : moveOf(row),
  };
}

export function moveOf(row: MoveRow): BookMove {
  return {
    moveId: row.move_id,
    phase: row.phase as MovePhase,
    root: row.root ?? undefined,
    fileSha256: row.file_sha256 ?? undefined,
    arrivalId: row.arrival_id ?? undefined,
    rowsDone: row.rows_done,
    movedTo: row.moved_to ?? undefined,
  };
}

/** Begins the move of an open book: from now on its last row is final. May be repeated. */
export function leave(cell: MovingCell, organizationId: OrganizationId, now: UnixMillis): Promise<LockedMove> {
  return step(cell, organizationId, async (book, session) => {
    if (book.move?.phase === "LEAVING") return book;
    if (book.move !== undefined || book.state !== "OPEN") throw new MoveError(`The book is ${stateOf(book)}.`);
    const move: BookMove = { ...NO_MOVE, moveId: randomBytes(MOVE_ID_BYTES).toString("hex"), phase: "LEAVING" };
    await session.write([stateWrite(cell.engine, [book], "MOVING"), insertMove(cell.engine, book, { move, now })]);
    return { ...book, state: "MOVING", move };
  });
}

export const NO_MOVE = {
  root: undefined,
  fileSha256: undefined,
  arrivalId: undefined,
  rowsDone: 0,
  movedTo: undefined,
} as const;

/** Notes the root of a book that leaves. A release compares it. */
export async function noteRoot(
  cell: MovingCell,
  { organizationId, move }: Pick<LockedMove, "organizationId" | "move">,
  { root, now }: { readonly root: string; readonly now: UnixMillis },
): Promise<void> {
  await step(cell, organizationId, async (book, session) => {
    if (book.move?.phase !== "LEAVING" || book.move.moveId !== move?.moveId) {
      throw new MoveError(`The book is ${stateOf(book)}: the move was given up meanwhile.`);
    }
    await session.write([updateMove(cell.engine, book, { move: { ...book.move, root }, now })]);
    return book;
  });
}

/** Gives a move up: the book is open again. May be repeated. */
export function stay(cell: MovingCell, organizationId: OrganizationId): Promise<LockedMove> {
  return step(cell, organizationId, async (book, session) => {
    if (book.move === undefined && book.state === "OPEN") return book;
    if (book.move?.phase !== "LEAVING") throw new MoveError(`The book is ${stateOf(book)}.`);
    return openAgain(cell, session, book);
  });
}

/** The import to which a book goes. */
export interface MoveTarget {
  readonly moveId: string;
  readonly arrivalId: string;
  /** In the operator's words. */
  readonly movedTo: string;
}

/**
 * Gives the book away for ever: only this import of it may open it from now on. May be repeated.
 * Rejects with a MoveError if the book was given to another import.
 */
export function release(
  cell: MovingCell,
  organizationId: OrganizationId,
  { moveId, arrivalId, movedTo, now }: MoveTarget & { readonly now: UnixMillis },
): Promise<LockedMove> {
  return step(cell, organizationId, async (book, session) => {
    if (book.move?.moveId !== moveId) throw new MoveError(`The book is ${stateOf(book)}: this is another move.`);
    if (book.move.phase === "LEFT" && book.move.arrivalId === arrivalId) return book;
    if (book.move.phase === "LEFT") throw new MoveError("The book was given to another import of the file.");
    if (book.move.phase !== "LEAVING") throw new MoveError(`The book is ${stateOf(book)}.`);
    if (book.move.root === undefined) throw new MoveError("The export of the book is not complete.");
    const move: BookMove = { ...book.move, phase: "LEFT", arrivalId, movedTo };
    await session.write([stateWrite(cell.engine, [book], "MOVED"), updateMove(cell.engine, book, { move, now })]);
    return { ...book, state: "MOVED", move };
  });
}

/** Opens a copied book. The other place has released it. */
export function open(cell: MovingCell, organizationId: OrganizationId, moveId: string): Promise<LockedMove> {
  return step(cell, organizationId, async (book, session) => {
    if (book.move?.phase !== "COPIED" || book.move.moveId !== moveId) {
      throw new MoveError(`The book is ${stateOf(book)}.`);
    }
    return openAgain(cell, session, book);
  });
}

/** Says that all rows of an import are stored and verified. */
export async function noteCopied(
  cell: MovingCell,
  organizationId: OrganizationId,
  { moveId, root, now }: { readonly moveId: string; readonly root: string; readonly now: UnixMillis },
): Promise<void> {
  await step(cell, organizationId, async (book, session) => {
    if (book.move?.phase !== "COPYING" || book.move.moveId !== moveId) {
      throw new MoveError(`The book is ${stateOf(book)}.`);
    }
    await session.write([updateMove(cell.engine, book, { move: { ...book.move, phase: "COPIED", root }, now })]);
    return book;
  });
}

/** Runs one step under the lock of the book, which no command can pass meanwhile. */
export function step<Result>(
  cell: MovingCell,
  organizationId: OrganizationId,
  work: (book: LockedMove, session: Session) => Promise<Result>,
): Promise<Result> {
  return inTransaction(cell, async (session) => {
    const book = await lockMove(cell, session, organizationId);
    if (book === undefined) throw new MoveError("This cell has no book of the organization.");
    return work(book, session);
  });
}

/** Names the state of a book for a message. */
export function stateOf({ state, move }: Pick<LockedMove, "state" | "move">): string {
  return move === undefined ? state : `${state} (${move.phase})`;
}

export function stateWrite(
  { table, update }: Engine,
  books: readonly { readonly number: number }[],
  state: BookState,
): Write {
  const rows = books.map(({ number }) => ({ number, state }));
  return { sql: update(table("books"), { key: "number", columns: STATE_COLUMNS }), rows };
}

interface MoveChange {
  readonly move: BookMove;
  readonly now: UnixMillis;
}

export function insertMove(engine: Engine, { number }: MovedBook, change: MoveChange): Write {
  return insertOf(engine, "book_moves", [rowOf(number, change)]);
}

export function updateMove({ table, update }: Engine, { number }: MovedBook, change: MoveChange): Write {
  return {
    sql: update(table("book_moves"), { key: "book", columns: MOVE_COLUMNS }),
    rows: [rowOf(number, change)],
  };
}

function rowOf(book: number, { move, now }: MoveChange): InsertedRow<typeof BOOK_MOVES> {
  return {
    book,
    move_id: move.moveId,
    phase: move.phase,
    root: move.root ?? null,
    file_sha256: move.fileSha256 ?? null,
    arrival_id: move.arrivalId ?? null,
    rows_done: move.rowsDone,
    moved_to: move.movedTo ?? null,
    changed_at: now,
  };
}

async function openAgain({ engine }: MovingCell, session: Session, book: LockedMove): Promise<LockedMove> {
  await session.write([stateWrite(engine, [book], "OPEN")]);
  await session.read({ sql: `DELETE FROM ${engine.table("book_moves")} WHERE book = ?`, bindings: [book.number] });
  return { ...book, state: "OPEN", move: undefined };
}
