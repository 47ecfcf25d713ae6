import type { Migration } from "./migration.js";

/**
 * `payments.turned_away` counts the requests that the rail turned away because of its load. It may
 * have taken them all the same (docs/adr/0039).
 */
export const turnedAway: Migration = ({ int64, table }) => [
  `ALTER TABLE ${table("payments")} ADD COLUMN turned_away ${int64} NOT NULL DEFAULT 0`,
];
