import { MAX_SUM_CENTS } from "../../domain/book.js";
import type { Migration } from "./migration.js";

const LIABILITIES = ["available_cents", "held_cents", "unallocated_cents"];

/**
 * The book of each organization: its last `seq`, and the sums of its book accounts. Every batch
 * locks the rows of its books until the commit, so the batches of all servers take turns in a book.
 * Therefore `seq` is the order of commits, and a reader never sees a row before an earlier one
 * (docs/adr/0020).
 *
 * `suspended_seq` is the row that suspended the organization. It is NULL unless that is so now.
 * `number` is the key of a book in the other tables. It is shorter than the organization's id: a
 * mint takes a sixth fewer bytes (docs/adr/0020). No message of the contract contains it.
 */
export const books: Migration = ({ int64, bytes, table, tableOptions, changingTableOptions }) => [
  `CREATE TABLE ${table("books")} (
     number             ${int64} NOT NULL PRIMARY KEY CHECK (number > 0),
     organization_id    TEXT NOT NULL UNIQUE REFERENCES ${table("organizations")} (id),
     state              TEXT NOT NULL CHECK (state IN ('OPEN', 'MOVING', 'MOVED', 'RESTORED')),
     suspended_seq      ${int64} CHECK (suspended_seq > 1),
     last_seq           ${int64} NOT NULL CHECK (last_seq >= 0),
     last_recorded_at   ${int64} NOT NULL,
     reserve_cents      ${int64} NOT NULL CHECK (reserve_cents <= ${String(MAX_SUM_CENTS)}),
     shortfall_cents    ${int64} NOT NULL CHECK (shortfall_cents BETWEEN 0 AND ${String(MAX_SUM_CENTS)}),
     ${LIABILITIES.map((sum) => `${sum} ${int64} NOT NULL CHECK (${sum} BETWEEN 0 AND ${String(MAX_SUM_CENTS)}),`).join("\n     ")}
     CHECK (reserve_cents + shortfall_cents = ${LIABILITIES.join(" + ")})
   ) ${changingTableOptions(10)}`,

  // The secrets of each book, encrypted by a master key that lies in a file outside the database.
  // Other tables refer to this row, and not to the one in `books`: an open snapshot keeps each old
  // version of a row, and PostgreSQL checks a reference by walking over all of them.
  `CREATE TABLE ${table("book_keys")} (
     book           ${int64} NOT NULL PRIMARY KEY REFERENCES ${table("books")} (number),
     data_key       ${bytes} NOT NULL,
     index_key      ${bytes} NOT NULL,
     seal_secret    ${bytes} NOT NULL,
     master_key_id  TEXT NOT NULL
   ) ${tableOptions}`,
];
