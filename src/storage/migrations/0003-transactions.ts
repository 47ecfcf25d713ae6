import { MAX_CENTS } from "../../domain/values/cents.js";
import type { Migration } from "./migration.js";

/**
 * Transactions. A row summarizes the transaction's rows in the journal. Its `seq` is the `seq` of
 * the journal row that created it.
 */
export const transactions: Migration = ({ int64, tableOptions }) => [
  `CREATE TABLE transactions (
     seq              ${int64} NOT NULL PRIMARY KEY,
     id               TEXT NOT NULL UNIQUE,
     organization_id  TEXT NOT NULL REFERENCES organizations (id),
     account_id       TEXT NOT NULL REFERENCES accounts (id),
     type             TEXT NOT NULL CHECK (type IN ('MINT', 'REDEEM')),
     status           TEXT NOT NULL CHECK (status IN ('PENDING', 'PROCESSING', 'COMPLETED', 'FAILED', 'CANCELED')),
     status_reason    TEXT NOT NULL,
     amount_cents     ${int64} NOT NULL CHECK (amount_cents > 0 AND amount_cents <= ${String(MAX_CENTS)}),
     reference        TEXT NOT NULL CHECK (reference <> ''),
     description      TEXT NOT NULL,
     metadata         TEXT NOT NULL,
     rail             TEXT NOT NULL,
     created_at       ${int64} NOT NULL,
     updated_at       ${int64} NOT NULL,
     completed_at     ${int64},
     UNIQUE (organization_id, reference),
     CHECK ((status = 'COMPLETED') = (completed_at IS NOT NULL))
   ) ${tableOptions}`,

  `CREATE INDEX transactions_by_organization ON transactions (organization_id, seq)`,
  `CREATE INDEX transactions_by_account ON transactions (account_id, seq)`,
];
