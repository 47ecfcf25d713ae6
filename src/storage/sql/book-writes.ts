import type { BookHead } from "../../domain/book.js";
import type { OpenBook } from "./book-directory.js";
import type { Write } from "./engine.js";
import type { LedgerStatements } from "./ledger-statements.js";
import { bookLimitsRows, bookRowOf, bookSwitchRows, bookUsageRows } from "./records/book-head-rows.js";

interface WrittenBook {
  readonly head: BookHead;
  /** The head as the batch has loaded it. */
  readonly before: BookHead | undefined;
  readonly book: OpenBook;
}

/**
 * Returns the writes of the heads of books. Most organizations have no limits: for them only the
 * first statement has rows.
 */
export function bookWritesOf(
  statements: Pick<LedgerStatements, "updateBooks" | "updateBookUsage" | "updateBookLimits" | "updateBookSwitches">,
  books: readonly WrittenBook[],
): readonly Write[] {
  const { updateBooks, updateBookUsage, updateBookLimits, updateBookSwitches } = statements;
  return [
    { sql: updateBooks, rows: books.map(({ head, book }) => bookRowOf(head, book)) },
    { sql: updateBookUsage, rows: books.flatMap(({ head, book }) => bookUsageRows(head, book.number)) },
    {
      sql: updateBookLimits,
      rows: books.flatMap(({ head, before, book }) => bookLimitsRows(head, before?.limits, book.number)),
    },
    {
      sql: updateBookSwitches,
      rows: books.flatMap(({ head, before, book }) => bookSwitchRows(head, before, book.number)),
    },
  ];
}
