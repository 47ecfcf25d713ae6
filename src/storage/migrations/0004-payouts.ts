import { PAYOUT_ROWS_MAX } from "../../domain/payout-file.js";
import { MAX_CENTS } from "../../domain/values/cents.js";
import type { Migration } from "./migration.js";

/**
 * The files of payouts (docs/adr/0078). A row of `payout_files` summarizes the journal row
 * `payouts.approved` with its `seq`. The parts of a file come before: part 0 is what the persons
 * see, each other part has up to 1,000 rows. `outcomes` says which of them the ledger refused, once
 * the part has run. Parts of files that nobody approves are deleted.
 */
export const payouts: Migration = ({ int64, bytes, table, tableOptions, withoutStatistics }) => [
  `CREATE TABLE ${table("payout_files")} (
     book          ${int64} NOT NULL REFERENCES ${table("book_keys")} (book),
     sha256        TEXT NOT NULL CHECK (length(sha256) = 64),
     rows_sha256   TEXT NOT NULL CHECK (length(rows_sha256) = 64),
     rail          TEXT NOT NULL CHECK (rail NOT IN ('', 'direct')),
     row_count     ${int64} NOT NULL CHECK (row_count BETWEEN 1 AND ${String(PAYOUT_ROWS_MAX)}),
     amount_cents  ${int64} NOT NULL CHECK (amount_cents BETWEEN 1 AND ${String(MAX_CENTS)}),
     left_out      ${int64} NOT NULL CHECK (left_out BETWEEN 0 AND ${String(PAYOUT_ROWS_MAX)}),
     seq           ${int64} NOT NULL CHECK (seq > 1),
     approved_at   ${int64} NOT NULL,
     mac           ${bytes} NOT NULL CHECK (length(mac) = 32),
     PRIMARY KEY (book, sha256)
   ) ${tableOptions}`,
  `CREATE TABLE ${table("payout_parts")} (
     book         ${int64} NOT NULL REFERENCES ${table("book_keys")} (book),
     rows_sha256  TEXT NOT NULL CHECK (length(rows_sha256) = 64),
     part         ${int64} NOT NULL CHECK (part >= 0),
     file_sha256  TEXT NOT NULL CHECK (length(file_sha256) = 64),
     sealed       ${bytes} NOT NULL,
     stored_at    ${int64} NOT NULL,
     outcomes     TEXT,
     PRIMARY KEY (book, rows_sha256, part),
     CHECK (part > 0 OR outcomes IS NULL)
   ) ${tableOptions}`,
  `CREATE INDEX payout_parts_of_file ON ${table("payout_parts")} (book, file_sha256, stored_at)`,
  `CREATE INDEX payout_parts_open ON ${table("payout_parts")} (book, rows_sha256, part)
     WHERE part > 0 AND outcomes IS NULL`,
  ...withoutStatistics("payout_parts", ["sealed"]),
];
