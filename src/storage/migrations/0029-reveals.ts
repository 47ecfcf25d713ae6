import type { Migration } from "./migration.js";

/**
 * Leads to the newest rows with which one person looked at personal data: 60 in an hour are
 * allowed. Any other row is not in it.
 */
export const reveals: Migration = ({ table }) => [
  `CREATE INDEX journal_reveals ON ${table("journal")} (actor, recorded_at) WHERE kind = 'account.revealed'`,
];
