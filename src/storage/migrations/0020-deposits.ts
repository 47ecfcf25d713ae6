import type { Migration } from "./migration.js";

/** What migration 0025 replaces. */
export const STATUS_CHECK = "CHECK (status IN ('UNALLOCATED', 'CREDITED', 'RETURNED', 'REVERSED'))";
export const REASON_CHECK =
  "CHECK (reason IN ('NO_REFERENCE', 'UNKNOWN_REFERENCE', 'ACCOUNT_CLOSED', 'LIMIT_EXCEEDED', 'ORDER_UNCLEAR', 'BY_HAND', 'UNASSIGNED'))";

/**
 * Shillings that came in without an order (docs/adr/0064). A row summarizes the rows `deposit.*` of
 * the journal, whose `detail` names it, and the transactions with its id. `seq` is that of the row
 * `deposit.received`.
 */
export const deposits: Migration = ({ int64, bytes, table, tableOptions }) => [
  `CREATE TABLE ${table("deposits")} (
     book             ${int64} NOT NULL REFERENCES ${table("book_keys")} (book),
     seq              ${int64} NOT NULL CHECK (seq > 0),
     id               TEXT NOT NULL UNIQUE,
     rail             TEXT NOT NULL CHECK (rail <> ''),
     rail_account_id  TEXT,
     receipt          TEXT NOT NULL CHECK (receipt <> ''),
     amount_cents     ${int64} NOT NULL CHECK (amount_cents > 0),
     status           TEXT NOT NULL ${STATUS_CHECK},
     reason           TEXT ${REASON_CHECK},
     account_id       TEXT REFERENCES ${table("account_holders")} (account_id),
     transaction_id   TEXT,
     credits          ${int64} NOT NULL CHECK (credits >= 0),
     typed_reference  ${bytes},
     masked_phone     TEXT CHECK (masked_phone <> ''),
     paid_at          ${int64},
     created_at       ${int64} NOT NULL,
     updated_at       ${int64} NOT NULL,
     PRIMARY KEY (book, seq),
     UNIQUE (book, receipt),
     CHECK ((status = 'UNALLOCATED') = (reason IS NOT NULL)),
     CHECK ((account_id IS NULL) = (transaction_id IS NULL)),
     CHECK (status <> 'CREDITED' OR transaction_id IS NOT NULL),
     CHECK (status <> 'UNALLOCATED' OR transaction_id IS NULL)
   ) ${tableOptions}`,
  `CREATE INDEX deposits_unallocated ON ${table("deposits")} (book, seq) WHERE status = 'UNALLOCATED'`,
  `CREATE INDEX deposits_of_accounts ON ${table("deposits")} (account_id, seq) WHERE account_id IS NOT NULL`,
  `CREATE INDEX deposits_typed ON ${table("deposits")} (created_at) WHERE typed_reference IS NOT NULL`,

  `ALTER TABLE ${table("accounts")} ADD COLUMN deposit_reference TEXT CHECK (length(deposit_reference) = 8)`,
  `CREATE UNIQUE INDEX accounts_by_deposit_reference ON ${table("accounts")} (book, deposit_reference)
     WHERE deposit_reference IS NOT NULL`,
  // The accounts that the service still numbers. New accounts are never in it.
  `CREATE INDEX accounts_unnumbered ON ${table("accounts")} (book, seq)
     WHERE deposit_reference IS NULL AND status <> 'CLOSED'`,

  `ALTER TABLE ${table("transactions")} ADD COLUMN deposit_id TEXT CHECK (deposit_id <> '')`,
  // One mint credits a deposit at a time, whatever two servers read.
  `CREATE UNIQUE INDEX transactions_credits ON ${table("transactions")} (deposit_id)
     WHERE deposit_id IS NOT NULL AND type = 'MINT' AND reversed_by_id IS NULL`,

  // The row since which a mint on the direct rail needs a receipt. NULL unless that is so now.
  `ALTER TABLE ${table("books")} ADD COLUMN receipts_required_seq ${int64} CHECK (receipts_required_seq > 1)`,
  // Orders that may have brought a payment without a reference. Few orders end without a receipt.
  `CREATE INDEX transactions_without_receipt ON ${table("transactions")} (book, amount_cents, created_at)
     WHERE type = 'MINT' AND status = 'COMPLETED' AND rail_receipt IS NULL AND rail <> 'direct'`,
  // A list of received payments names an order by the end of its id.
  `CREATE INDEX payments_by_end ON ${table("payments")}
     ((substr(transaction_id, length(transaction_id) - 11)), rail_account_id) WHERE direction = 'MINT'`,

  ...["deposits_since", "deposits_due_at", "deposits_read_at"].map(
    (column) => `ALTER TABLE ${table("rail_accounts")} ADD COLUMN ${column} ${int64}`,
  ),
];
