/** The kinds of destinations of the first schema. Later migrations add others. */
export const FIRST_DESTINATION_KINDS = ["PHONE", "TILL", "PAYBILL"] as const;

/** Returns words as a list of SQL. */
export function listOf(words: readonly string[]): string {
  return words.map((word) => `'${word}'`).join(", ");
}

/**
 * Returns the columns of what counts against limits (docs/adr/0051). The sums belong to the day and
 * the month that begin at `day_from` and `month_from`. Both are NULL until a transaction counts.
 */
export function usage(int64: string): string {
  return `day_from               ${int64},
     day_minted_cents       ${int64} NOT NULL DEFAULT 0,
     day_redeemed_cents     ${int64} NOT NULL DEFAULT 0,
     month_from             ${int64},
     month_minted_cents     ${int64} NOT NULL DEFAULT 0,
     month_redeemed_cents   ${int64} NOT NULL DEFAULT 0`;
}
