import { NEEDS_ATTENTION, PAID_OUT, PAID_TO, TRANSACTION_STEPS } from "../../model/transactions.js";
import type { Migration } from "./migration.js";

/**
 * Redemptions that wait for a person (docs/adr/0080). `held_for` says why, as the newest row
 * `transaction.held` of the transaction does, and is NULL once a person has decided. A failure that
 * the list of `failure` does not have stands in `later_failure`.
 */
export const heldPayouts: Migration = ({ table }) => [
  `ALTER TABLE ${table("transactions")} ADD COLUMN held_for TEXT
     CHECK (held_for IS NULL OR (held_for <> '' AND type = 'REDEEM' AND status = 'PENDING'))`,
  `ALTER TABLE ${table("transactions")} ADD COLUMN later_failure TEXT
     CHECK (later_failure IS NULL
       OR (later_failure <> '' AND status = 'FAILED' AND failure = 'RESOLVED_BY_OPERATOR'))`,
  `DROP INDEX ${table("transactions_flagged")}`,
  `CREATE INDEX transactions_attention ON ${table("transactions")} (book, seq) WHERE ${NEEDS_ATTENTION}`,
  // Leads to the newest payout to a destination, or to the own number of an account.
  `CREATE INDEX transactions_paid_out ON ${table("transactions")} (book, ${PAID_TO}, created_at) WHERE ${PAID_OUT}`,
  `DROP INDEX ${table("journal_transaction_steps")}`,
  `CREATE INDEX journal_transaction_steps ON ${table("journal")} (transaction_id, seq) WHERE kind IN ${TRANSACTION_STEPS}`,
];
