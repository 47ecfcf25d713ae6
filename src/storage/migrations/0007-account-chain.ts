import type { Migration } from "./migration.js";

/**
 * The rows of one account, linked: each row of the journal names the one before it, and the account
 * names its last. They are found by walking back from there, with no index to keep, whose leaves a
 * batch would touch one for each account.
 */
export const accountChain: Migration = ({ int64, appendOnly, changeable }) => [
  ...changeable("journal"),
  `ALTER TABLE journal ADD COLUMN previous_seq ${int64} CHECK (previous_seq < seq)`,
  `UPDATE journal SET previous_seq = linked.previous_seq
   FROM (SELECT seq, lag(seq) OVER (PARTITION BY account_id ORDER BY seq) AS previous_seq FROM journal) AS linked
   WHERE journal.seq = linked.seq`,
  ...appendOnly("journal"),

  // Every account has a row that created it: 0 stands only until the next statement.
  `ALTER TABLE accounts ADD COLUMN last_seq ${int64} NOT NULL DEFAULT 0`,
  `UPDATE accounts SET last_seq = ends.last_seq
   FROM (SELECT account_id, max(seq) AS last_seq FROM journal GROUP BY account_id) AS ends
   WHERE accounts.id = ends.account_id`,

  `DROP INDEX transactions_by_account`,
];
