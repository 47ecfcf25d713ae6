import type { Migration } from "../migration.js";

const SUMS = ["reserve_cents", "shortfall_cents", "available_cents", "held_cents", "unallocated_cents"];

/**
 * The seals of the books (docs/adr/0044). A seal is no row of the journal: it would have to seal
 * itself.
 */
export const seals: Migration = ({ int64, bytes, table, tableOptions, clusteredTableOptions, appendOnly }) => [
  // The sums are those of the book when it had this size.
  `CREATE TABLE ${table("seals")} (
     book           ${int64} NOT NULL REFERENCES ${table("book_keys")} (book),
     size           ${int64} NOT NULL CHECK (size > 0),
     root           ${bytes} NOT NULL CHECK (length(root) = 32),
     note           TEXT NOT NULL CHECK (note <> ''),
     ${SUMS.map((sum) => `${sum} ${int64} NOT NULL,`).join("\n     ")}
     sealed_at      ${int64} NOT NULL,
     charges_cents  ${int64} NOT NULL DEFAULT 0,
     PRIMARY KEY (book, size)
   ) ${clusteredTableOptions}`,
  ...appendOnly("seals"),

  // The tiles of the levels from 1 on, in the layout of C2SP tlog-tiles. A tile has up to 256
  // hashes. Those of level 0 are made from the journal again.
  `CREATE TABLE ${table("seal_tiles")} (
     book    ${int64} NOT NULL REFERENCES ${table("book_keys")} (book),
     level   ${int64} NOT NULL CHECK (level > 0),
     number  ${int64} NOT NULL CHECK (number >= 0),
     hashes  ${bytes} NOT NULL CHECK (length(hashes) BETWEEN 32 AND 8192 AND length(hashes) % 32 = 0),
     PRIMARY KEY (book, level, number)
   ) ${tableOptions}`,

  // A book with an alarm that nobody has cleared gets no more seals.
  `CREATE TABLE ${table("seal_alarms")} (
     book          ${int64} NOT NULL REFERENCES ${table("book_keys")} (book),
     raised_at     ${int64} NOT NULL,
     size          ${int64} NOT NULL CHECK (size > 0),
     first_seq     ${int64} NOT NULL CHECK (first_seq > 0),
     last_seq      ${int64} NOT NULL CHECK (last_seq >= first_seq),
     problem       TEXT NOT NULL CHECK (problem <> ''),
     cleared_at    ${int64} CHECK (cleared_at >= raised_at),
     cleared_by    TEXT CHECK (cleared_by <> ''),
     clear_reason  TEXT CHECK (clear_reason <> ''),
     PRIMARY KEY (book, raised_at),
     CHECK ((cleared_at IS NULL) = (cleared_by IS NULL) AND (cleared_at IS NULL) = (clear_reason IS NULL))
   ) ${tableOptions}`,
  `CREATE UNIQUE INDEX seal_alarms_standing ON ${table("seal_alarms")} (book) WHERE cleared_at IS NULL`,
];
