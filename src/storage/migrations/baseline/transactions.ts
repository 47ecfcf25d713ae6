import { FIRST_FAILURE_REASONS } from "../../../domain/payment.js";
import { MAX_CENTS } from "../../../domain/values/cents.js";
import type { Migration } from "../migration.js";
import { listOf } from "./columns.js";

/**
 * Transactions. They are not stored in the order of the primary key: on SQLite a row of 1 KiB would
 * then take a page of its own (docs/adr/0020). A row summarizes the transaction's rows in the
 * journal. Its `seq` is the `seq` of the journal row that created it.
 */
export const transactions: Migration = ({ int64, table, tableOptions, clusteredTableOptions }) => [
  `CREATE TABLE ${table("transactions")} (
     book            ${int64} NOT NULL REFERENCES ${table("book_keys")} (book),
     seq             ${int64} NOT NULL,
     id              TEXT NOT NULL UNIQUE,
     account_id      TEXT NOT NULL REFERENCES ${table("account_holders")} (account_id),
     type            TEXT NOT NULL CHECK (type IN ('MINT', 'REDEEM')),
     status          TEXT NOT NULL CHECK (status IN ('PENDING', 'PROCESSING', 'COMPLETED', 'FAILED', 'CANCELED')),
     status_reason   TEXT NOT NULL,
     amount_cents    ${int64} NOT NULL CHECK (amount_cents > 0 AND amount_cents <= ${String(MAX_CENTS)}),
     reference       TEXT NOT NULL CHECK (reference <> ''),
     description     TEXT NOT NULL,
     metadata        TEXT NOT NULL,
     rail            TEXT NOT NULL,
     rail_movement   TEXT,
     rail_receipt    TEXT,
     failure         TEXT CHECK (failure IN (${listOf(FIRST_FAILURE_REASONS)})),
     open_flags      TEXT CHECK (open_flags <> ''),
     corrects_id     TEXT REFERENCES ${table("transactions")} (id),
     correction      TEXT CHECK (correction IN ('REVERSAL', 'LATE')),
     reversed_by_id  TEXT,
     created_at      ${int64} NOT NULL,
     updated_at      ${int64} NOT NULL,
     completed_at    ${int64},
     deposit_id      TEXT CHECK (deposit_id <> ''),
     destination_id  TEXT CHECK (destination_id <> ''),
     PRIMARY KEY (book, seq),
     UNIQUE (book, reference),
     CHECK ((status = 'COMPLETED') = (completed_at IS NOT NULL)),
     CHECK ((status = 'FAILED') = (failure IS NOT NULL)),
     CHECK (status = 'COMPLETED' OR (rail_movement IS NULL AND rail_receipt IS NULL)),
     CHECK ((corrects_id IS NULL) = (correction IS NULL)),
     CHECK (reversed_by_id IS NULL OR (status = 'COMPLETED' AND correction IS NULL))
   ) ${tableOptions}`,
  `CREATE INDEX transactions_by_type ON ${table("transactions")} (book, type, seq)`,
  // A transaction is reversed at most once. `reversed_by_id` points back, and has no foreign key: a
  // batch updates the original before it inserts the reversal.
  `CREATE UNIQUE INDEX transactions_reversals ON ${table("transactions")} (corrects_id) WHERE correction = 'REVERSAL'`,
  // What the rail reports about a transaction that has ended is compared with these.
  `CREATE INDEX transactions_late ON ${table("transactions")} (corrects_id) WHERE correction = 'LATE'`,
  // The rail's name for a movement of shillings: a book has each once.
  `CREATE UNIQUE INDEX transactions_movements ON ${table("transactions")} (book, rail_movement)
     WHERE rail_movement IS NOT NULL`,
  // Nearly all transactions are completed, so this index stays small. A list of completed
  // transactions passes few rows over without an index.
  `CREATE INDEX transactions_not_completed ON ${table("transactions")} (book, status, seq)
     WHERE status <> 'COMPLETED'`,
  // The transactions that a person must look at.
  `CREATE INDEX transactions_flagged ON ${table("transactions")} (book, seq) WHERE open_flags IS NOT NULL`,
  // One mint credits a deposit at a time, whatever two servers read.
  `CREATE UNIQUE INDEX transactions_credits ON ${table("transactions")} (deposit_id)
     WHERE deposit_id IS NOT NULL AND type = 'MINT' AND reversed_by_id IS NULL`,
  // Orders that may have brought a payment without a reference. Few orders end without a receipt.
  `CREATE INDEX transactions_without_receipt ON ${table("transactions")} (book, amount_cents, created_at)
     WHERE type = 'MINT' AND status = 'COMPLETED' AND rail_receipt IS NULL AND rail <> 'direct'`,

  // Maps an idempotency key to the resource that its first call created. The commit that creates
  // the resource also saves the key.
  `CREATE TABLE ${table("idempotency_keys")} (
     book         ${int64} NOT NULL REFERENCES ${table("book_keys")} (book),
     key          TEXT NOT NULL,
     resource_id  TEXT NOT NULL,
     created_at   ${int64} NOT NULL,
     PRIMARY KEY (book, key)
   ) ${clusteredTableOptions}`,
];
