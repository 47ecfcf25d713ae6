import type { Migration } from "./migration.js";

/**
 * The time of the newest row that an operator has accepted although it lies in the future. Rows may
 * repeat this time until the clock has passed it (docs/operations.md).
 */
export const acceptedClocks: Migration = ({ int64, table }) => [
  `ALTER TABLE ${table("books")} ADD COLUMN clock_accepted_at ${int64}`,
];
