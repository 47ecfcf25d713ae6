import type { Migration } from "./migration.js";

/**
 * The journal: one row for each event, in one global order without gaps. A row never changes.
 *
 * `journal_head` holds the last `seq`. Every batch locks it until its commit, so the batches of all
 * servers take turns. Therefore `seq` is the order of commits, and a reader never sees a row before
 * an earlier one (docs/adr/0002).
 */
export const journal: Migration = ({ int64, tableOptions, appendOnly }) => [
  `CREATE TABLE journal (
     seq                    ${int64} NOT NULL PRIMARY KEY CHECK (seq > 0),
     organization_id        TEXT NOT NULL REFERENCES organizations (id),
     account_id             TEXT NOT NULL REFERENCES accounts (id),
     transaction_id         TEXT REFERENCES transactions (id),
     kind                   TEXT NOT NULL,
     debit                  TEXT CHECK (debit IN ('reserve', 'available', 'held')),
     credit                 TEXT CHECK (credit IN ('reserve', 'available', 'held')),
     amount_cents           ${int64} CHECK (amount_cents > 0),
     available_after_cents  ${int64} NOT NULL CHECK (available_after_cents >= 0),
     held_after_cents       ${int64} NOT NULL CHECK (held_after_cents >= 0),
     actor                  TEXT NOT NULL,
     reason                 TEXT NOT NULL,
     recorded_at            ${int64} NOT NULL,
     CHECK (
       (debit IS NULL AND credit IS NULL AND amount_cents IS NULL)
       OR (debit IS NOT NULL AND credit IS NOT NULL AND amount_cents IS NOT NULL AND debit <> credit)
     ),
     CHECK ((transaction_id IS NOT NULL) = (kind LIKE 'transaction.%'))
   ) ${tableOptions}`,
  ...appendOnly("journal"),

  // A transaction can reach only one final status.
  `CREATE UNIQUE INDEX journal_terminal_rows ON journal (transaction_id)
     WHERE kind IN ('transaction.completed', 'transaction.failed', 'transaction.canceled')`,

  `CREATE TABLE journal_head (
     id        ${int64} NOT NULL PRIMARY KEY CHECK (id = 1),
     last_seq  ${int64} NOT NULL CHECK (last_seq >= 0)
   ) ${tableOptions}`,
  `INSERT INTO journal_head (id, last_seq) VALUES (1, 0)`,
];
