import type { Migration } from "./migration.js";

/**
 * Lists of those to whom payouts are held (docs/adr/0084). `payout_list` of a book is the detail of
 * its newest row `payouts.list_set`: which list holds. The entries of a list are keyed hashes, and
 * lie under the hash of them all. They are stored before the list is set. Lists that do not hold
 * are deleted later.
 */
export const payoutLists: Migration = ({ int64, bytes, table, tableOptions, withoutStatistics }) => [
  `ALTER TABLE ${table("books")} ADD COLUMN payout_list TEXT CHECK (payout_list <> '')`,
  `CREATE TABLE ${table("payout_lists")} (
     book       ${int64} NOT NULL REFERENCES ${table("book_keys")} (book),
     list       TEXT NOT NULL CHECK (length(list) = 64),
     entries    ${bytes} NOT NULL CHECK (length(entries) % 16 = 0),
     stored_at  ${int64} NOT NULL,
     PRIMARY KEY (book, list)
   ) ${tableOptions}`,
  ...withoutStatistics("payout_lists", ["entries"]),
];
