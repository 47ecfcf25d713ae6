import type { Migration } from "./migration.js";

/**
 * Leads to the rows that operators look for: those that a person made, and the proposals about a
 * transaction, which `journal_transaction_steps` leaves out. An ordinary mint has no row in them.
 */
export const journalFilters: Migration = ({ table }) => [
  `CREATE INDEX journal_operator_rows ON ${table("journal")} (book, seq) WHERE substr(actor, 1, 4) = 'opr_'`,
  `CREATE INDEX journal_resolutions ON ${table("journal")} (transaction_id, seq)
     WHERE kind = 'transaction.resolution_proposed'`,
];
