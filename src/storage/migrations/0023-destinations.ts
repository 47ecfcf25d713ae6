import { DESTINATION_KINDS } from "../../domain/destination.js";
import type { Migration } from "./migration.js";

const KINDS = DESTINATION_KINDS.map((kind) => `'${kind}'`).join(", ");

/**
 * Where shillings of an account can be paid out to (docs/adr/0067). A row summarizes the rows
 * `destination.*` of the journal, whose `detail` names it. `seq` is that of the row
 * `destination.created`.
 */
export const destinations: Migration = ({ int64, bytes, table, tableOptions }) => [
  `CREATE TABLE ${table("destinations")} (
     book           ${int64} NOT NULL REFERENCES ${table("book_keys")} (book),
     seq            ${int64} NOT NULL CHECK (seq > 0),
     id             TEXT NOT NULL UNIQUE,
     account_id     TEXT NOT NULL REFERENCES ${table("account_holders")} (account_id),
     kind           TEXT NOT NULL CHECK (kind IN (${KINDS})),
     label          TEXT NOT NULL,
     number         ${bytes},
     masked_number  TEXT NOT NULL CHECK (masked_number <> ''),
     content_salt   ${bytes},
     usable_at      ${int64} NOT NULL CHECK (usable_at >= created_at),
     created_at     ${int64} NOT NULL,
     removed_at     ${int64} CHECK (removed_at >= created_at),
     PRIMARY KEY (book, seq),
     CHECK ((removed_at IS NULL) = (number IS NOT NULL) AND (removed_at IS NULL) = (content_salt IS NOT NULL))
   ) ${tableOptions}`,
  `CREATE INDEX destinations_of_accounts ON ${table("destinations")} (account_id, seq)`,
  `ALTER TABLE ${table("transactions")} ADD COLUMN destination_id TEXT CHECK (destination_id <> '')`,
  `ALTER TABLE ${table("payments")} ADD COLUMN number_kind TEXT NOT NULL DEFAULT 'PHONE' CHECK (number_kind IN (${KINDS}))`,
  // Payouts to a kind that wait, however many, must not slow the others.
  `DROP INDEX ${table("payments_new_payouts")}`,
  `CREATE INDEX payments_new_payouts ON ${table("payments")} (rail_account_id, number_kind, due_at)
     WHERE state = 'READY' AND direction = 'REDEEM'`,
];
