import { MAX_SUM_CENTS } from "../../../domain/book.js";
import { RESERVE_KINDS } from "../../../domain/reserve.js";
import { MAX_CENTS } from "../../../domain/values/cents.js";
import type { Migration } from "../migration.js";
import { listOf, usage } from "./columns.js";

const LIABILITIES = ["available_cents", "held_cents", "unallocated_cents"];
const MAX = String(MAX_SUM_CENTS);
/**
 * What rails took for their work, less what the organization put in for that (docs/adr/0065). It
 * may be below zero.
 */
const CHARGES = `charges_cents BETWEEN -${MAX} AND ${MAX}`;
const EQUATION = `reserve_cents + shortfall_cents + charges_cents = ${LIABILITIES.join(" + ")}`;

/** The columns of the book accounts but `charges_cents`. */
function sums(int64: string): string {
  return [
    `reserve_cents ${int64} NOT NULL CHECK (reserve_cents <= ${MAX})`,
    `shortfall_cents ${int64} NOT NULL CHECK (shortfall_cents BETWEEN 0 AND ${MAX})`,
    ...LIABILITIES.map((sum) => `${sum} ${int64} NOT NULL CHECK (${sum} BETWEEN 0 AND ${MAX})`),
  ].join(",\n     ");
}

/**
 * The book of each organization: its last `seq`, and the sums of its book accounts. Every batch
 * locks the rows of its books until the commit, so the batches of all servers take turns in a book.
 * Therefore `seq` is the order of commits, and a reader never sees a row before an earlier one
 * (docs/adr/0020).
 *
 * `number` is the key of a book in the other tables. It is shorter than the organization's id: a
 * mint takes a sixth fewer bytes (docs/adr/0020). No message of the contract contains it.
 *
 * `suspended_seq` is the row that suspended the organization, and `receipts_required_seq` the row
 * since which a mint on the direct rail needs a receipt. Each is NULL unless that is so now.
 *
 * `limits` has the limits of amounts. `limits_since` is the time of the first row `limits.set`.
 * Before it both are NULL. `reserve_rules` is the detail of the newest row `reserve.rules_set`: the
 * rules as a JSON text.
 *
 * `arrived_seq` is the last row that came with an import: the operators whom rows up to it name may
 * belong to another database. `clock_accepted_at` is the time of the newest row that an operator
 * has accepted although it lies in the future. Rows may repeat this time until the clock has passed
 * it (docs/operations.md).
 */
export const books: Migration = ({ int64, bytes, table, tableOptions, changingTableOptions }) => [
  `CREATE TABLE ${table("books")} (
     number                 ${int64} NOT NULL PRIMARY KEY CHECK (number > 0),
     organization_id        TEXT NOT NULL UNIQUE REFERENCES ${table("organizations")} (id),
     state                  TEXT NOT NULL CHECK (state IN ('OPEN', 'MOVING', 'MOVED', 'RESTORED')),
     suspended_seq          ${int64} CHECK (suspended_seq > 1),
     last_seq               ${int64} NOT NULL CHECK (last_seq >= 0),
     last_recorded_at       ${int64} NOT NULL,
     ${sums(int64)},
     limits                 TEXT,
     limits_since           ${int64},
     ${usage(int64)},
     arrived_seq            ${int64},
     clock_accepted_at      ${int64},
     receipts_required_seq  ${int64} CHECK (receipts_required_seq > 1),
     charges_cents          ${int64} NOT NULL DEFAULT 0 CHECK (${CHARGES}),
     reserve_rules          TEXT CHECK (reserve_rules <> ''),
     mac                    TEXT NOT NULL CHECK (length(mac) = 32),
     CHECK (${EQUATION})
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

/**
 * The marks: signposts into the past of a book. The worker of the marks derives them from the
 * journal, so they may be dropped, and a read without them takes longer (docs/adr/0045).
 */
export const marks: Migration = ({ int64, table, clusteredTableOptions }) => [
  // Every 64th row of an account. The balance at a point in time is at most 63 links before a mark.
  `CREATE TABLE ${table("account_marks")} (
     book        ${int64} NOT NULL REFERENCES ${table("book_keys")} (book),
     seq         ${int64} NOT NULL CHECK (seq > 0),
     account_id  TEXT NOT NULL,
     PRIMARY KEY (book, seq)
   ) ${clusteredTableOptions}`,
  `CREATE INDEX account_marks_by_account ON ${table("account_marks")} (account_id, seq)`,

  // The sums of the book accounts after every 2,048th row, and all KESC that entered and left
  // circulation up to it. The marks of a book are complete up to its last row here.
  `CREATE TABLE ${table("book_marks")} (
     book            ${int64} NOT NULL REFERENCES ${table("book_keys")} (book),
     seq             ${int64} NOT NULL CHECK (seq > 0),
     ${sums(int64)},
     charges_cents   ${int64} NOT NULL DEFAULT 0 CHECK (${CHARGES}),
     minted_cents    ${int64} NOT NULL CHECK (minted_cents >= 0),
     redeemed_cents  ${int64} NOT NULL CHECK (redeemed_cents >= 0)
       CONSTRAINT book_marks_turnover_check CHECK (minted_cents - redeemed_cents = available_cents + held_cents),
     PRIMARY KEY (book, seq),
     CHECK (${EQUATION})
   ) ${clusteredTableOptions}`,
];

/**
 * Where the reserve of each organization lies: the last figure of each place, as the operator
 * recorded it. A row summarizes the journal row `reserve.recorded` with its `seq`.
 */
export const reserve: Migration = ({ int64, table, tableOptions }) => [
  `CREATE TABLE ${table("reserve_places")} (
     book             ${int64} NOT NULL REFERENCES ${table("book_keys")} (book),
     place            TEXT NOT NULL CHECK (place <> ''),
     seq              ${int64} NOT NULL CHECK (seq > 1),
     amount_cents     ${int64} NOT NULL CHECK (amount_cents BETWEEN 0 AND ${String(MAX_CENTS)}),
     as_of_day        TEXT NOT NULL CHECK (length(as_of_day) = 10),
     evidence         TEXT NOT NULL CHECK (evidence <> ''),
     recorded_at      ${int64} NOT NULL,
     kind             TEXT NOT NULL DEFAULT 'other' CHECK (kind IN (${listOf(RESERVE_KINDS)})),
     document_sha256  TEXT CHECK (length(document_sha256) = 64),
     matures_on       TEXT CHECK (length(matures_on) = 10),
     PRIMARY KEY (book, place)
   ) ${tableOptions}`,
];

/**
 * The moves of books to another cell or database (docs/adr/0053). A book has a row while it leaves,
 * after it has left, and while it arrives. A book that is open has none.
 *
 * `rows_done` counts the rows of the file that an import has stored. `root` is the root of the tree
 * over all rows of the journal. `arrival_id` names one import of the file: a book is given away to
 * it alone. `moved_to` is the new place, in the operator's words.
 */
export const moves: Migration = ({ int64, table, tableOptions }) => [
  `CREATE TABLE ${table("book_moves")} (
     book         ${int64} NOT NULL PRIMARY KEY REFERENCES ${table("books")} (number),
     move_id      TEXT NOT NULL CHECK (move_id <> ''),
     phase        TEXT NOT NULL CHECK (phase IN ('LEAVING', 'LEFT', 'EMPTYING', 'EMPTIED', 'COPYING', 'COPIED')),
     root         TEXT CHECK (length(root) = 64),
     file_sha256  TEXT CHECK (length(file_sha256) = 64),
     arrival_id   TEXT CHECK (arrival_id <> ''),
     rows_done    ${int64} NOT NULL CHECK (rows_done >= 0),
     moved_to     TEXT,
     changed_at   ${int64} NOT NULL,
     CHECK (phase NOT IN ('LEFT', 'COPIED') OR (root IS NOT NULL AND arrival_id IS NOT NULL))
   ) ${tableOptions}`,
];
