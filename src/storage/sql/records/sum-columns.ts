import { type BookSums, ofEachAccount } from "../../../domain/book.js";
import { BOOK_ACCOUNTS, type BookAccount } from "../../../domain/journal.js";

/** The columns of `books`, `book_marks` and `seals` that hold the sums of the book accounts. */
export type SumColumns<Value = number> = { readonly [Name in BookAccount as `${Name}_cents`]: Value };

/** Their names, in the order of BOOK_ACCOUNTS. */
export const SUM_COLUMNS = BOOK_ACCOUNTS.map(columnOf);

export function sumsOf(row: SumColumns): BookSums {
  return ofEachAccount((account) => row[columnOf(account)]);
}

export function sumColumnsOf(sums: BookSums): SumColumns {
  return Object.fromEntries(
    BOOK_ACCOUNTS.map((account) => [columnOf(account), sums[account]]),
  ) as unknown as SumColumns;
}

function columnOf<Name extends BookAccount>(account: Name): `${Name}_cents` {
  return `${account}_cents`;
}
