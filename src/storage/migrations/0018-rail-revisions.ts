import type { Migration } from "./migration.js";

/**
 * Counts the changes of an account at a rail. Each change is a row `rail.changed` of the journal.
 * A payment begins only under the revision that the settlement has read (docs/adr/0058).
 */
export const railRevisions: Migration = ({ int64, table }) => [
  `ALTER TABLE ${table("rail_accounts")} ADD COLUMN revision ${int64} NOT NULL DEFAULT 1 CHECK (revision > 0)`,
];
