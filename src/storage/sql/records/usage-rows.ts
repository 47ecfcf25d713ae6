import type { Usage } from "../../../domain/limits/usage.js";
import { toUnixMillis } from "../../../domain/values/time.js";
import type { ACCOUNTS } from "../../../model/accounts.js";
import type { RowOf } from "../../../model/column.js";

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
