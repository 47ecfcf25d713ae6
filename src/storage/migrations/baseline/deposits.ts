import { DEPOSIT_REASONS, DEPOSIT_STATUSES } from "../../../domain/deposit.js";
import type { Migration } from "../migration.js";
import { listOf } from "./columns.js";

/**
 * Shillings that came in without an order (docs/adr/0064). A row summarizes the rows `deposit.*` of
 * the journal, whose `detail` names it, and the transactions with its id. `seq` is that of the row
 * `deposit.received`.
 *
 * `return_due_at` and `return_requests` say how far a return is that the rail was asked for. Only
 * the settlement reads them, and no journal row depends on them.
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
     status           TEXT NOT NULL CHECK (status IN (${listOf(DEPOSIT_STATUSES)})),
     reason           TEXT CHECK (reason IN (${listOf(DEPOSIT_REASONS)})),
     account_id       TEXT REFERENCES ${table("account_holders")} (account_id),
     transaction_id   TEXT,
     credits          ${int64} NOT NULL CHECK (credits >= 0),
     typed_reference  ${bytes},
     masked_phone     TEXT CHECK (masked_phone <> ''),
     paid_at          ${int64},
     created_at       ${int64} NOT NULL,
     updated_at       ${int64} NOT NULL,
     return_due_at    ${int64} CHECK ((status = 'RETURNING') = (return_due_at IS NOT NULL)),
     return_requests  TEXT CHECK (return_requests IS NULL OR status = 'RETURNING'),
     PRIMARY KEY (book, seq),
     UNIQUE (book, receipt),
     CHECK ((status = 'UNALLOCATED') = (reason IS NOT NULL)),
     CHECK ((account_id IS NULL) = (transaction_id IS NULL)),
     CHECK (status <> 'CREDITED' OR transaction_id IS NOT NULL),
     CHECK (status <> 'UNALLOCATED' OR transaction_id IS NULL)
   ) ${tableOptions}`,
  `CREATE INDEX deposits_of_accounts ON ${table("deposits")} (account_id, seq) WHERE account_id IS NOT NULL`,
  `CREATE INDEX deposits_typed ON ${table("deposits")} (created_at) WHERE typed_reference IS NOT NULL`,
  `CREATE INDEX deposits_returning ON ${table("deposits")} (return_due_at) WHERE return_due_at IS NOT NULL`,
  `CREATE INDEX deposits_unallocated ON ${table("deposits")} (book, seq)
     WHERE status IN ('UNALLOCATED', 'RETURNING')`,
];
