/** The columns that count against limits, in `accounts` and in `books`: see `POSTGRES_OBJECTS`. */
const USAGE = {
  "column day_from": "bigint",
  "column day_minted_cents": "bigint NOT NULL DEFAULT 0",
  "column day_redeemed_cents": "bigint NOT NULL DEFAULT 0",
  "column month_from": "bigint",
  "column month_minted_cents": "bigint NOT NULL DEFAULT 0",
  "column month_redeemed_cents": "bigint NOT NULL DEFAULT 0",
} as const;

export const ACCOUNT_LIMIT_COLUMNS = { ...USAGE, "column tier": "text NOT NULL DEFAULT 'default'::text" } as const;

export const BOOK_LIMIT_COLUMNS = { ...USAGE, "column limits": "text", "column limits_since": "bigint" } as const;
