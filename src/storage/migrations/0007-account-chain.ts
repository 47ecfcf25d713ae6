import type { Migration } from "./migration.js";

/**
 * Links the rows of an account: each journal row names the previous one, and the account names its
 * last. A query walks back along the links. An index would cost a batch one changed page for each
 * account: 41 µs a mint where it is 30 (docs/adr/0011).
 */
export const accountChain: Migration = ({ int64, appendOnly, changeable }) => [
  ...changeable("journal"),
  `ALTER TABLE journal ADD COLUMN previous_seq ${int64} CHECK (previous_seq < seq)`,
  `UPDATE journal SET previous_seq = linked.previous_seq
   FROM (SELECT seq, lag(seq) OVER (PARTITION BY account_id ORDER BY seq) AS previous_seq FROM journal) AS linked
   WHERE journal.seq = linked.seq`,
  ...appendOnly("journal"),

  // The default 0 holds only until the next statement. Every account has a journal row that created
  // it.
  `ALTER TABLE accounts ADD COLUMN last_seq ${int64} NOT NULL DEFAULT 0`,
  `UPDATE accounts SET last_seq = ends.last_seq
   FROM (SELECT account_id, max(seq) AS last_seq FROM journal GROUP BY account_id) AS ends
   WHERE accounts.id = ends.account_id`,

  `DROP INDEX transactions_by_account`,
];
