import type { Usage } from "../../../domain/limits/usage.js";
import { toUnixMillis } from "../../../domain/values/time.js";
import type { Columns } from "../engine.js";

/** The columns of `accounts` and of `books` that count against limits. */
export const USAGE_COLUMNS = {
  day_from: "int64",
  day_minted_cents: "int64",
  day_redeemed_cents: "int64",
  month_from: "int64",
  month_minted_cents: "int64",
  month_redeemed_cents: "int64",
} as const satisfies Columns;

export interface UsageRow {
  /** Null with `month_from`, until the first transaction counts. */
  readonly day_from: number | null;
  readonly day_minted_cents: number;
  readonly day_redeemed_cents: number;
  readonly month_from: number | null;
  readonly month_minted_cents: number;
  readonly month_redeemed_cents: number;
}

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
