import { parseOrganizationId } from "../../domain/values/ids.js";
import { OperatorError } from "../../startup/operator-error.js";
import { type BookSummary, listBooks } from "../../storage/books.js";
import { type Cell, cellOf, type Database } from "../../storage/database.js";
import { MoveError } from "../../storage/moves/book-moves.js";
import { changedError } from "../organizations.js";

/** A book, and the cell that has its rows. While an organization moves, two cells may have them. */
export interface PlacedBook {
  readonly book: BookSummary;
  readonly cell: Cell;
}

/**
 * Returns the books of an organization, named by its id or by its name: one for each cell that has
 * rows of it. Throws an OperatorError if there is none, or if several organizations have the name.
 */
export async function booksOf(database: Database, idOrName: string): Promise<readonly PlacedBook[]> {
  const isId = parseOrganizationId(idOrName).ok;
  const found = (await listBooks(database, { areChecked: true })).filter((book) =>
    isId ? book.organizationId === idOrName : book.name === idOrName,
  );
  const ids = [...new Set(found.map(({ organizationId }) => organizationId))];
  if (ids.length > 1) throw new OperatorError(`Several are named "${idOrName}". Give an id: ${ids.join(", ")}.`);
  if (ids.length === 0) {
    throw new OperatorError(`There is no organization ${idOrName}. To list the books: kesc book list`);
  }
  for (const { organizationId, isChanged } of found) if (isChanged) throw changedError(organizationId);
  return found.map((book) => ({ book, cell: cellOf(database, book) }));
}

/** Returns the book that fits, or the first one, of which a step then says why it does not fit. */
export function oneOf(books: readonly PlacedBook[], fits: (book: BookSummary) => boolean, cell?: number): PlacedBook {
  const inCell = books.filter(({ book }) => cell === undefined || book.cell === cell);
  const found = inCell.find(({ book }) => fits(book)) ?? inCell[0];
  if (found === undefined) throw new OperatorError(`The cell ${String(cell)} has no book of the organization.`);
  return found;
}

export function nameOf({ organizationId, name }: Pick<BookSummary, "organizationId" | "name">): string {
  return `${organizationId} ("${name}")`;
}

/** Calls `work`. Turns a MoveError into an OperatorError that says that nothing was done. */
export async function orOperatorError<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof MoveError)) throw error;
    throw new OperatorError(`${error.message} Nothing was done. To see the books: kesc book list`, { cause: error });
  }
}
