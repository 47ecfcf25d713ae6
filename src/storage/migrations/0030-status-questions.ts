import type { Migration } from "./migration.js";

/**
 * The answer to a query of a payment's status counts only at the address of the question that
 * stands: an earlier address may have leaked (docs/security.md). A server of before asks without a
 * question, so servers of this version drop its answers and ask again.
 */
export const statusQuestions: Migration = ({ table }) => [
  `ALTER TABLE ${table("payments")} ADD COLUMN status_question TEXT CHECK (status_question <> '')`,
  `CREATE UNIQUE INDEX payments_asked ON ${table("payments")} (status_question) WHERE status_question IS NOT NULL`,
];
