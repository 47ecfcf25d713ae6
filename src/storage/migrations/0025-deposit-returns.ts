import { DEPOSIT_REASONS, DEPOSIT_STATUSES } from "../../domain/deposit.js";
import { REASON_CHECK, STATUS_CHECK } from "./0020-deposits.js";
import type { Migration } from "./migration.js";

/**
 * How far a return is that the rail was asked for (docs/adr/0064). Only the settlement reads the
 * two columns, and no journal row depends on them.
 */
export const depositReturns: Migration = ({ int64, table, changeCheck }) => [
  ...changeCheck("deposits", {
    constraint: "deposits_status_check",
    was: STATUS_CHECK,
    is: `CHECK (status IN (${listOf(DEPOSIT_STATUSES)}))`,
  }),
  ...changeCheck("deposits", {
    constraint: "deposits_reason_check",
    was: REASON_CHECK,
    is: `CHECK (reason IN (${listOf(DEPOSIT_REASONS)}))`,
  }),
  `ALTER TABLE ${table("deposits")} ADD COLUMN return_due_at ${int64} CHECK ((status = 'RETURNING') = (return_due_at IS NOT NULL))`,
  `ALTER TABLE ${table("deposits")} ADD COLUMN return_requests TEXT CHECK (return_requests IS NULL OR status = 'RETURNING')`,
  `CREATE INDEX deposits_returning ON ${table("deposits")} (return_due_at) WHERE return_due_at IS NOT NULL`,
  `DROP INDEX ${table("deposits_unallocated")}`,
  `CREATE INDEX deposits_unallocated ON ${table("deposits")} (book, seq)
     WHERE status IN ('UNALLOCATED', 'RETURNING')`,
];

function listOf(words: readonly string[]): string {
  return words.map((word) => `'${word}'`).join(", ");
}
