import { MAX_CENTS } from "../../domain/values/cents.js";
import type { Migration } from "./migration.js";

/**
 * Accounts. A row summarizes the account's rows in the journal. Its `seq` is the `seq` of the
 * journal row that created it.
 */
export const accounts: Migration = ({ int64, tableOptions }) => [
  `CREATE TABLE accounts (
     seq              ${int64} NOT NULL PRIMARY KEY,
     id               TEXT NOT NULL UNIQUE,
     organization_id  TEXT NOT NULL REFERENCES organizations (id),
     user_id          TEXT NOT NULL,
     phone_number     TEXT NOT NULL,
     email            TEXT NOT NULL,
     status           TEXT NOT NULL CHECK (status IN ('ACTIVE', 'FROZEN', 'CLOSED')),
     status_reason    TEXT NOT NULL,
     available_cents  ${int64} NOT NULL CHECK (available_cents >= 0),
     held_cents       ${int64} NOT NULL CHECK (held_cents >= 0),
     created_at       ${int64} NOT NULL,
     updated_at       ${int64} NOT NULL,
     UNIQUE (organization_id, user_id),
     CHECK (available_cents + held_cents <= ${String(MAX_CENTS)}),
     CHECK (status <> 'CLOSED' OR available_cents + held_cents = 0)
   ) ${tableOptions}`,

  // ListAccounts needs one index for each filter.
  `CREATE INDEX accounts_by_organization ON accounts (organization_id, seq)`,
  `CREATE INDEX accounts_by_phone_number ON accounts (organization_id, phone_number, seq)`,
  `CREATE INDEX accounts_by_email ON accounts (organization_id, email, seq)`,
  `CREATE INDEX accounts_by_status ON accounts (organization_id, status, seq)`,
];
