import { DEFAULT_TIER } from "../../domain/limits/limits.js";
import type { Migration } from "./migration.js";

/**
 * Limits of amounts. The row of an account, which every mint changes anyway, has the account's tier
 * and what counts against its limits. The row of a book has the limits, and what counts against
 * those of the organization (docs/adr/0051).
 *
 * `limits_since` is the time of the first row `limits.set`. Before it both columns are NULL. The
 * sums belong to the day and the month that begin at `day_from` and `month_from`. Both are NULL
 * until a transaction counts. The columns have no CHECK, because Citus takes none here.
 */
export const limits: Migration = ({ int64, table }) => {
  const usage = [
    `day_from ${int64}`,
    `day_minted_cents ${int64} NOT NULL DEFAULT 0`,
    `day_redeemed_cents ${int64} NOT NULL DEFAULT 0`,
    `month_from ${int64}`,
    `month_minted_cents ${int64} NOT NULL DEFAULT 0`,
    `month_redeemed_cents ${int64} NOT NULL DEFAULT 0`,
  ];
  const added = (name: string, columns: readonly string[]): string[] =>
    columns.map((column) => `ALTER TABLE ${table(name)} ADD COLUMN ${column}`);
  return [
    ...added("books", ["limits TEXT", `limits_since ${int64}`, ...usage]),
    ...added("accounts", [`tier TEXT NOT NULL DEFAULT '${DEFAULT_TIER}'`, ...usage]),
    // The tier of an account at an earlier row. Few rows are in this index, and none of a mint.
    `CREATE INDEX journal_account_tiers ON ${table("journal")} (account_id, seq) WHERE kind = 'account.tiered'`,
  ];
};
