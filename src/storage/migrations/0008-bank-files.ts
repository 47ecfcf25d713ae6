import { APPROVED_BANK_FILES, BANK_FILE_IN, ROWS_OF_BANK_FILES } from "../../model/transactions.js";
import type { Migration } from "./migration.js";

/**
 * Payment files for banks have no table (docs/adr/0082). The first index leads to the rows about
 * one file, the second to those that approved files.
 */
export const bankFiles: Migration = ({ table }) => [
  `CREATE INDEX journal_bank_files ON ${table("journal")} (book, ${BANK_FILE_IN}, seq) WHERE ${ROWS_OF_BANK_FILES}`,
  `CREATE INDEX journal_approved_bank_files ON ${table("journal")} (book, seq) WHERE ${APPROVED_BANK_FILES}`,
];
