import { FREEZE_REASONS } from "../../../domain/freeze.js";
import { DEFAULT_TIER } from "../../../domain/limits/limits.js";
import { MAX_CENTS } from "../../../domain/values/cents.js";
import type { Engine } from "../../sql/engine.js";
import type { Migration } from "../migration.js";
import { FIRST_DESTINATION_KINDS, listOf, usage } from "./columns.js";

const PERSONAL_COLUMNS = ["user_id", "phone_number", "phone_number_index", "email", "email_index", "content_salt"];

/**
 * Accounts. A row summarizes the account's rows in the journal. Its `seq` is the `seq` of the
 * journal row that created it, and `last_seq` that of its newest row. It has the account's tier and
 * what counts against its limits, too, because every mint changes it anyway.
 */
export const accounts: Migration = ({ int64, bytes, table, tableOptions, changingTableOptions, withoutStatistics }) => [
  `CREATE TABLE ${table("accounts")} (
     book                   ${int64} NOT NULL REFERENCES ${table("book_keys")} (book),
     seq                    ${int64} NOT NULL,
     last_seq               ${int64} NOT NULL CHECK (last_seq >= seq),
     id                     TEXT NOT NULL UNIQUE,
     status                 TEXT NOT NULL CHECK (status IN ('ACTIVE', 'FROZEN', 'CLOSED')),
     status_reason          TEXT NOT NULL,
     available_cents        ${int64} NOT NULL CHECK (available_cents >= 0),
     held_cents             ${int64} NOT NULL CHECK (held_cents >= 0),
     open_payments          ${int64} NOT NULL CHECK (open_payments >= 0),
     created_at             ${int64} NOT NULL,
     updated_at             ${int64} NOT NULL,
     tier                   TEXT NOT NULL DEFAULT '${DEFAULT_TIER}',
     ${usage(int64)},
     deposit_reference      TEXT CHECK (length(deposit_reference) = 8),
     mac                    TEXT NOT NULL CHECK (length(mac) = 32),
     PRIMARY KEY (book, seq),
     CHECK (available_cents + held_cents <= ${String(MAX_CENTS)}),
     CHECK (status <> 'CLOSED' OR available_cents + held_cents + open_payments = 0)
   ) ${changingTableOptions(10)}`,
  `CREATE INDEX accounts_by_status ON ${table("accounts")} (book, status, seq)`,
  `CREATE UNIQUE INDEX accounts_by_deposit_reference ON ${table("accounts")} (book, deposit_reference)
     WHERE deposit_reference IS NOT NULL`,

  // The personal data of the account's user, apart from the row that every mint changes. The phone
  // number and the e-mail address are encrypted; ListAccounts finds them by blind indexes. An
  // erasure sets all columns from user_id on to NULL (docs/adr/0021). Transactions and the journal
  // refer to this row, because it hardly ever changes: see `book_keys`.
  `CREATE TABLE ${table("account_holders")} (
     account_id               TEXT NOT NULL PRIMARY KEY REFERENCES ${table("accounts")} (id),
     book                     ${int64} NOT NULL REFERENCES ${table("book_keys")} (book),
     seq                      ${int64} NOT NULL,
     is_open                  ${int64} NOT NULL CHECK (is_open IN (0, 1)),
     user_id                  TEXT,
     phone_number             ${bytes},
     phone_number_index       ${bytes},
     phone_number_changed_at  ${int64},
     email                    ${bytes},
     email_index              ${bytes},
     email_changed_at         ${int64},
     content_salt             ${bytes},
     CHECK (
       (user_id IS NOT NULL AND phone_number IS NOT NULL AND phone_number_index IS NOT NULL
         AND email IS NOT NULL AND content_salt IS NOT NULL)
       OR (user_id IS NULL AND phone_number IS NULL AND phone_number_index IS NULL
         AND email IS NULL AND email_index IS NULL AND content_salt IS NULL
         AND phone_number_changed_at IS NULL AND email_changed_at IS NULL)
     )
   ) ${tableOptions}`,
  ...withoutStatistics("account_holders", PERSONAL_COLUMNS),
  // A user whose account is closed can open another one.
  `CREATE UNIQUE INDEX account_holders_open ON ${table("account_holders")} (book, user_id) WHERE is_open = 1`,
  `CREATE INDEX account_holders_by_user ON ${table("account_holders")} (book, user_id, seq)`,
  `CREATE INDEX account_holders_by_phone_number ON ${table("account_holders")} (book, phone_number_index, seq)`,
  `CREATE INDEX account_holders_by_email ON ${table("account_holders")} (book, email_index, seq)`,
];

/**
 * The freezes of accounts. A row summarizes the journal rows that began and ended the freeze; its
 * `seq` is that of the first (docs/adr/0033).
 */
export const freezes: Migration = ({ int64, table, tableOptions }) => [
  `CREATE TABLE ${table("freezes")} (
     book         ${int64} NOT NULL REFERENCES ${table("book_keys")} (book),
     seq          ${int64} NOT NULL,
     id           TEXT NOT NULL UNIQUE,
     account_id   TEXT NOT NULL REFERENCES ${table("account_holders")} (account_id),
     reason_code  TEXT NOT NULL CHECK (reason_code IN (${listOf(FREEZE_REASONS)})),
     reason       TEXT NOT NULL,
     created_by   TEXT NOT NULL,
     created_at   ${int64} NOT NULL,
     lifted_by    TEXT,
     lifted_at    ${int64} CHECK (lifted_at >= created_at),
     lift_reason  TEXT,
     PRIMARY KEY (book, seq),
     CHECK ((lifted_at IS NULL) = (lifted_by IS NULL) AND (lifted_at IS NULL) = (lift_reason IS NULL))
   ) ${tableOptions}`,
  `CREATE INDEX freezes_standing ON ${table("freezes")} (account_id) WHERE lifted_at IS NULL`,
  // A read of an account's past status looks for the freezes that stood then.
  `CREATE INDEX freezes_by_account ON ${table("freezes")} (account_id, seq)`,
];

/**
 * Where shillings of an account can be paid out to (docs/adr/0067). A row summarizes the rows
 * `destination.*` of the journal, whose `detail` names it. `seq` is that of the row
 * `destination.created`.
 */
export const destinations: Migration = (engine) => destinationTable(engine, FIRST_DESTINATION_KINDS);

/** The table of destinations of these kinds, with its index. */
export function destinationTable(
  { int64, bytes, table, tableOptions }: Engine,
  kinds: readonly string[],
): readonly string[] {
  return [
    `CREATE TABLE ${table("destinations")} (
     book           ${int64} NOT NULL REFERENCES ${table("book_keys")} (book),
     seq            ${int64} NOT NULL CHECK (seq > 0),
     id             TEXT NOT NULL UNIQUE,
     account_id     TEXT NOT NULL REFERENCES ${table("account_holders")} (account_id),
     kind           TEXT NOT NULL CHECK (kind IN (${listOf(kinds)})),
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
  ];
}
