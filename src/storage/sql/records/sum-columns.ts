import { type BookSums, ofEachAccount, type Turnover } from "../../../domain/book.js";
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

/**
 * The columns of `book_marks` that hold the turnover. Text, because a driver rounds large numbers.
 */
export interface TurnoverColumns {
  readonly minted_cents: string;
  readonly redeemed_cents: string;
}

export const TURNOVER_COLUMNS = [
  "minted_cents",
  "redeemed_cents",
] as const satisfies readonly (keyof TurnoverColumns)[];

export function turnoverOf({ minted_cents: minted, redeemed_cents: redeemed }: TurnoverColumns): Turnover {
  return { minted: BigInt(minted), redeemed: BigInt(redeemed) };
}

function columnOf<Name extends BookAccount>(account: Name): `${Name}_cents` {
  return `${account}_cents`;
}
