import { CLOSED_MONTH, CLOSINGS } from "../../model/transactions.js";
import type { Migration } from "./migration.js";

/** A month of a book is closed once. The index also leads to the row that closed it. */
export const closedMonths: Migration = ({ table }) => [
  `CREATE UNIQUE INDEX journal_closed_months ON ${table("journal")} (book, ${CLOSED_MONTH}) WHERE ${CLOSINGS}`,
];
