import { type BookSums, ofEachAccount, type Turnover } from "../../../domain/book.js";
import { BOOK_ACCOUNTS, type BookAccount } from "../../../domain/journal.js";
import type { Usage } from "../../../domain/limits/usage.js";
import { toUnixMillis } from "../../../domain/values/time.js";
import type { ACCOUNTS } from "../../../model/accounts.js";
import type { RowOf } from "../../../model/column.js";

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

/** The columns of `accounts` and of `books` that count against limits. */
export const USAGE_NAMES = [
  "day_from",
  "day_minted_cents",
  "day_redeemed_cents",
  "month_from",
  "month_minted_cents",
  "month_redeemed_cents",
] as const satisfies readonly (keyof typeof ACCOUNTS.columns)[];

export type UsageRow = Pick<RowOf<typeof ACCOUNTS>, (typeof USAGE_NAMES)[number]>;

const NO_USAGE: UsageRow = {
  day_from: null,
  day_minted_cents: 0,
  day_redeemed_cents: 0,
  month_from: null,
  month_minted_cents: 0,
  month_redeemed_cents: 0,
};

export function usageOf(row: UsageRow): Usage | undefined {
  const { day_from: day, month_from: month } = row;
  if (day === null || month === null) return undefined;
  return {
    day: { from: toUnixMillis(day), MINT: row.day_minted_cents, REDEEM: row.day_redeemed_cents },
    month: { from: toUnixMillis(month), MINT: row.month_minted_cents, REDEEM: row.month_redeemed_cents },
  };
}

export function usageRowOf(usage: Usage | undefined): UsageRow {
  if (usage === undefined) return NO_USAGE;
  const { day, month } = usage;
  return {
    day_from: day.from,
    day_minted_cents: day.MINT,
    day_redeemed_cents: day.REDEEM,
    month_from: month.from,
    month_minted_cents: month.MINT,
    month_redeemed_cents: month.REDEEM,
  };
}
