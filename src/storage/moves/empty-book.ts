import type { MovePhase } from "../../domain/book.js";
import type { OrganizationId } from "../../domain/values/ids.js";
import type { UnixMillis } from "../../domain/values/time.js";
import type { Cell } from "../database.js";
import { inTransaction } from "../sql/store-error.js";
import { type LockedMove, MoveError, stateOf, stateWrite, step, updateMove } from "./book-moves.js";
import { APPEND_ONLY_TABLES, belongsTo, MOVED_TABLES, type MovedTable, TOMBSTONE_TABLES } from "./tables.js";

const REMOVABLE: ReadonlySet<MovePhase> = new Set(["LEFT", "COPYING", "COPIED", "EMPTYING", "EMPTIED"]);
/** A commit of another organization waits for no longer than this many rows take. */
const SLICE_ROWS = 5_000;

/**
 * Removes the rows of a book that is not open here: of an import that was given up, or of a book
 * that has moved away. Continues where it was interrupted. Needs the rights of the tables' owner.
 *
 * The rows of `organizations`, `books` and `book_keys` stay. Servers remember the number of a book,
 * so another book must never get it; the same organization gets it again if it comes back.
 */
export async function emptyBook(
  cell: Cell,
  organizationId: OrganizationId,
  now: () => UnixMillis,
): Promise<LockedMove> {
  const book = await toPhase(cell, organizationId, { phase: "EMPTYING", now: now() });
  const tombstones = new Set<string>(TOMBSTONE_TABLES.map(({ name }) => name));
  for (const moved of MOVED_TABLES.toReversed()) {
    if (!tombstones.has(moved.name)) while (await removeSome(cell, moved, book));
  }
  return toPhase(cell, organizationId, { phase: "EMPTIED", now: now() });
}

function toPhase(
  cell: Cell,
  organizationId: OrganizationId,
  { phase, now }: { readonly phase: "EMPTYING" | "EMPTIED"; readonly now: UnixMillis },
): Promise<LockedMove> {
  return step(cell, organizationId, async (book, session) => {
    const { move } = book;
    if (move === undefined || !REMOVABLE.has(move.phase)) {
      throw new MoveError(`The book is ${stateOf(book)}: its rows are needed here.`);
    }
    const emptied = { ...move, phase, root: undefined, fileSha256: undefined, arrivalId: undefined, rowsDone: 0 };
    await session.write([
      stateWrite(cell.engine, [book], "MOVED"),
      updateMove(cell.engine, book, { move: emptied, now }),
    ]);
    return { ...book, state: "MOVED", move: emptied };
  });
}

/** Removes up to 5,000 rows. Returns whether there may be more. */
async function removeSome(cell: Cell, moved: MovedTable, book: LockedMove): Promise<boolean> {
  const { engine } = cell;
  const { sql: condition, bindings } = belongsTo(engine, moved, book);
  const table = engine.table(moved.name);
  const key = moved.key.join(", ");
  // A transaction goes before the one that it corrects.
  const newestFirst = moved.key.map((column) => `x.${column} DESC`).join(", ");
  const own = moved.key.map((column) => `x.${column}`).join(", ");
  const sql = `
    DELETE FROM ${table} WHERE (${key}) IN (
      SELECT ${own} FROM ${table} x WHERE ${condition} ORDER BY ${newestFirst} LIMIT ${String(SLICE_ROWS)})
    RETURNING 1 AS removed`;
  const { allow, refuse } = engine.deletable(moved.name);
  const isGuarded = APPEND_ONLY_TABLES.has(moved.name);
  const removed = await inTransaction(cell, async (session) => {
    if (isGuarded) await session.read({ sql: allow, bindings: [] });
    const rows = await session.read({ sql, bindings });
    if (isGuarded) await session.read({ sql: refuse, bindings: [] });
    return rows.length;
  });
  return removed === SLICE_ROWS;
}
