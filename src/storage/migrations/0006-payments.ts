import type { Migration } from "./migration.js";

/**
 * The orders that transactions give to rails, and what operators have proposed or done. The
 * committer alone writes both, in the commit of the journal row that says why (docs/adr/0038).
 */
export const payments: Migration = ({ int64, bytes, table, tableOptions, changingTableOptions, withoutStatistics }) => [
  // The phone number is encrypted, and gone once the payment has ended. Its masked form stays.
  `CREATE TABLE ${table("payments")} (
     transaction_id   TEXT NOT NULL PRIMARY KEY REFERENCES ${table("transactions")} (id),
     book             ${int64} NOT NULL REFERENCES ${table("book_keys")} (book),
     rail_account_id  TEXT NOT NULL,
     direction        TEXT NOT NULL CHECK (direction IN ('MINT', 'REDEEM')),
     state            TEXT NOT NULL CHECK (state IN ('READY', 'SENDING', 'ACCEPTED', 'ENDED')),
     phone_number     ${bytes},
     masked_phone     TEXT NOT NULL,
     rail_reference   TEXT,
     begun_at         ${int64},
     sends            ${int64} NOT NULL,
     due_at           ${int64} NOT NULL,
     updated_at       ${int64} NOT NULL,
     checks           ${int64} NOT NULL DEFAULT 0,
     advances         ${int64} NOT NULL DEFAULT 0,
     last_code        TEXT,
     CHECK ((state = 'ENDED') = (phone_number IS NULL)),
     CHECK (state NOT IN ('SENDING', 'ACCEPTED') OR begun_at IS NOT NULL),
     CHECK ((begun_at IS NULL) = (sends = 0))
   ) ${changingTableOptions(50)}`,
  // Each open payment is in one of two indexes. While no payout may begin, only the second is read
  // for due payments, so the payouts that wait are in nobody's way.
  `CREATE INDEX payments_new_payouts ON ${table("payments")} (rail_account_id, due_at)
     WHERE state = 'READY' AND direction = 'REDEEM'`,
  `CREATE INDEX payments_other_open ON ${table("payments")} (rail_account_id, due_at)
     WHERE state <> 'ENDED' AND (state <> 'READY' OR direction = 'MINT')`,
  ...withoutStatistics("payments", ["phone_number", "masked_phone"]),

  // `subject` is a transaction's id, or names a correction of one book.
  `CREATE TABLE ${table("proposals")} (
     subject      TEXT NOT NULL PRIMARY KEY,
     book         ${int64} NOT NULL REFERENCES ${table("book_keys")} (book),
     content      TEXT NOT NULL,
     person       TEXT NOT NULL CHECK (person <> ''),
     proposed_at  ${int64} NOT NULL,
     done_at      ${int64} CHECK (done_at >= proposed_at)
   ) ${tableOptions}`,
];
