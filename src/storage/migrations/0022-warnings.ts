import type { Migration } from "./migration.js";

/**
 * Warnings about accounts at rails (docs/adr/0066). `warnings` summarizes the rows `rail.warned`
 * and `rail.cleared` of the journal. A balance counts only at the address of the question that
 * stands.
 */
export const warnings: Migration = ({ int64, table }) => [
  `ALTER TABLE ${table("rail_accounts")} ADD COLUMN float_min_cents ${int64} NOT NULL DEFAULT 0 CHECK (float_min_cents >= 0)`,
  `ALTER TABLE ${table("rail_accounts")} ADD COLUMN warnings TEXT NOT NULL DEFAULT '{}' CHECK (warnings <> '')`,
  `ALTER TABLE ${table("rail_accounts")} ADD COLUMN balance_question TEXT CHECK (balance_question <> '')`,
  `CREATE UNIQUE INDEX rail_accounts_asked ON ${table("rail_accounts")} (balance_question) WHERE balance_question IS NOT NULL`,
];
