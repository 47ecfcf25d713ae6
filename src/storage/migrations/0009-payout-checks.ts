import { CHECK_ROWS, WAITS_FOR_CHECK } from "../../model/transactions.js";
import type { Migration } from "./migration.js";

/**
 * Checks of payouts have no table (docs/adr/0083). The first index leads to the rows that set or
 * cleared the check of a book, the second to the redemptions that wait for its answer.
 */
export const payoutChecks: Migration = ({ table }) => [
  `CREATE INDEX journal_payout_checks ON ${table("journal")} (book, seq) WHERE ${CHECK_ROWS}`,
  `CREATE INDEX transactions_checks ON ${table("transactions")} (book, seq) WHERE ${WAITS_FOR_CHECK}`,
];
