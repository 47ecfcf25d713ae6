import type { Migration } from "./migration.js";

/** When a person has stopped a file of payouts. NULL for one that nobody has stopped. */
export const stoppedPayouts: Migration = ({ int64, table }) => [
  `ALTER TABLE ${table("payout_files")} ADD COLUMN stopped_at ${int64}`,
];
