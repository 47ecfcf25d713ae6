import { DEBITS_OF_ACCOUNTS, RECEIPT_NUMBER, RECEIPTS_WITH_SOURCE } from "../../../model/transactions.js";
import { ROWS_OF_ENDPOINTS } from "../../../model/webhooks.js";
import type { Migration } from "../migration.js";

const BOOK_ACCOUNTS = "('reserve', 'shortfall', 'available', 'held', 'unallocated', 'charges')";

/**
 * The journal: one row for each event, in one order without gaps for each book. A row never
 * changes.
 *
 * `previous_seq` links the rows of an account. A query walks back along the links. An index would
 * cost a batch one changed page for each account: 41 µs a mint where it is 30 (docs/adr/0011).
 * `content_hash` covers everything that the row created (docs/adr/0020). `detail` says what the
 * kind leaves open, such as the reason of a failure. `alone_by` and `alone_cents` are what one
 * person did alone by amount, and the sum of the person's day after it.
 */
export const journal: Migration = ({ int64, bytes, table, clusteredTableOptions, appendOnly }) => [
  `CREATE TABLE ${table("journal")} (
     book                   ${int64} NOT NULL REFERENCES ${table("book_keys")} (book),
     seq                    ${int64} NOT NULL CHECK (seq > 0),
     previous_seq           ${int64} CHECK (previous_seq < seq),
     account_id             TEXT REFERENCES ${table("account_holders")} (account_id),
     transaction_id         TEXT REFERENCES ${table("transactions")} (id),
     freeze_id              TEXT REFERENCES ${table("freezes")} (id),
     kind                   TEXT NOT NULL,
     debit                  TEXT CHECK (debit IN ${BOOK_ACCOUNTS}),
     credit                 TEXT CHECK (credit IN ${BOOK_ACCOUNTS}),
     amount_cents           ${int64} CHECK (amount_cents > 0),
     available_after_cents  ${int64} CHECK (available_after_cents >= 0),
     held_after_cents       ${int64} CHECK (held_after_cents >= 0),
     detail                 TEXT,
     rail_receipt           TEXT,
     actor                  TEXT NOT NULL,
     reason                 TEXT NOT NULL,
     recorded_at            ${int64} NOT NULL,
     content_hash           ${bytes} NOT NULL CHECK (length(content_hash) = 32),
     alone_by               TEXT,
     alone_cents            ${int64},
     PRIMARY KEY (book, seq),
     CHECK (
       (debit IS NULL AND credit IS NULL AND amount_cents IS NULL)
       OR (debit IS NOT NULL AND credit IS NOT NULL AND amount_cents IS NOT NULL AND debit <> credit)
     ),
     CHECK ((available_after_cents IS NULL) = (account_id IS NULL) AND (held_after_cents IS NULL) = (account_id IS NULL)),
     CHECK (account_id IS NOT NULL OR previous_seq IS NULL),
     CHECK ((transaction_id IS NOT NULL) = (kind LIKE 'transaction.%')),
     CHECK ((freeze_id IS NOT NULL) = (kind IN ('account.frozen', 'account.unfrozen'))),
     CHECK (alone_cents > 0 AND alone_by IS NOT NULL OR alone_cents IS NULL AND alone_by IS NULL)
   ) ${clusteredTableOptions}`,
  ...appendOnly("journal"),

  // A receipt of a rail proves one movement of shillings, so a book takes it once.
  `CREATE UNIQUE INDEX journal_receipts ON ${table("journal")} (book, rail_receipt) WHERE rail_receipt IS NOT NULL`,
  // A transaction can reach only one final status.
  `CREATE UNIQUE INDEX journal_terminal_rows ON ${table("journal")} (transaction_id)
     WHERE kind IN ('transaction.completed', 'transaction.failed', 'transaction.canceled')`,
  // What a transaction was, and whether an account was frozen, at an earlier row: the events of a
  // book tell it (docs/adr/0041). Few rows are in these indexes, and none of a direct mint.
  `CREATE INDEX journal_transaction_steps ON ${table("journal")} (transaction_id, seq)
     WHERE kind IN ('transaction.processing', 'transaction.receipted', 'transaction.flagged', 'transaction.attended')`,
  `CREATE INDEX journal_account_statuses ON ${table("journal")} (account_id, seq)
     WHERE kind IN ('account.frozen', 'account.unfrozen', 'account.closed')`,
  // A freeze begins once, and is lifted at most once.
  `CREATE UNIQUE INDEX journal_freeze_rows ON ${table("journal")} (freeze_id, kind) WHERE freeze_id IS NOT NULL`,
  // The tier of an account at an earlier row. Few rows are in this index, and none of a mint.
  `CREATE INDEX journal_account_tiers ON ${table("journal")} (account_id, seq) WHERE kind = 'account.tiered'`,
  // Leads to the newest row that took from the balances of an account, or that changed its status
  // or its tier. An older copy of a row of `accounts` names an older row (docs/adr/0072). No mint
  // is in it.
  `CREATE INDEX journal_account_debits ON ${table("journal")} (account_id, seq)
     WHERE ${DEBITS_OF_ACCOUNTS}`,
  // The acts of operators are few rows of a long journal. No row of a user is in this index.
  `CREATE INDEX journal_own_rows ON ${table("journal")} (book, seq) WHERE account_id IS NULL`,
  // The next two lead to the rows that operators look for: those that a person made, and the
  // proposals about a transaction, which `journal_transaction_steps` leaves out. An ordinary mint
  // has no row in them.
  `CREATE INDEX journal_operator_rows ON ${table("journal")} (book, seq) WHERE substr(actor, 1, 4) = 'opr_'`,
  `CREATE INDEX journal_resolutions ON ${table("journal")} (transaction_id, seq)
     WHERE kind = 'transaction.resolution_proposed'`,
  // Leads to the newest rows with which one person looked at personal data: 60 in an hour are
  // allowed. Any other row is not in it.
  `CREATE INDEX journal_reveals ON ${table("journal")} (actor, recorded_at) WHERE kind = 'account.revealed'`,
  // Leads to the rows that outdate or close a proposal. No mint, redemption or deposit has one.
  `CREATE INDEX journal_deciding ON ${table("journal")} (book, seq) WHERE kind IN (
     'account.frozen', 'account.unfrozen', 'account.tiered', 'transaction.resolution_proposed', 'deposit.return_failed',
     'book.proposed', 'book.proposal_rejected', 'book.proposal_approved', 'book.covered', 'book.recovered',
     'book.allocated', 'book.returned', 'book.received', 'book.paid', 'book.adjusted', 'book.transferred',
     'book.funded', 'reserve.recorded', 'reserve.rules_set', 'limits.set', 'rail.changed')`,
  // Leads to the rows that say which accounts at rails a book has.
  `CREATE INDEX journal_rails ON ${table("journal")} (book, seq) WHERE kind = 'rail.changed'`,
  // Leads to the row that revoked a key: an old copy of the key's row does not revive it.
  `CREATE INDEX journal_revoked_keys ON ${table("journal")} (book, detail) WHERE kind = 'key.revoked'`,
  // Leads to the newest row about a webhook endpoint: an old copy of the endpoint's row names an
  // older one.
  `CREATE INDEX journal_webhook_endpoints ON ${table("journal")} (book, detail, seq) WHERE ${ROWS_OF_ENDPOINTS}`,
  // A person's newest row has the sum of the day, so nobody adds up its rows. No mint is in it.
  `CREATE INDEX journal_alone ON ${table("journal")} (book, alone_by, seq) WHERE alone_by IS NOT NULL`,
  // Leads to the receipt of another source that has the same number. Only a movement of a caller's
  // own source is in it.
  `CREATE INDEX journal_receipt_numbers ON ${table("journal")} (book, ${RECEIPT_NUMBER})
     WHERE ${RECEIPTS_WITH_SOURCE}`,
];
