import type { Migration } from "./migration.js";

/**
 * The moves of books to another cell or database (docs/adr/0053). A book has a row while it leaves,
 * after it has left, and while it arrives. A book that is open has none.
 *
 * `rows_done` counts the rows of the file that an import has stored. `root` is the root of the tree
 * over all rows of the journal. `arrival_id` names one import of the file: a book is given away to
 * it alone. `moved_to` is the new place, in the operator's words.
 *
 * `books.arrived_seq` is the last row that came with an import: the operators whom rows up to it
 * name may belong to another database.
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
  `ALTER TABLE ${table("books")} ADD COLUMN arrived_seq ${int64}`,
];
