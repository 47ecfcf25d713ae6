import { MAX_SUM_CENTS } from "../../domain/book.js";
import type { Migration } from "./migration.js";

const LIABILITIES = ["available_cents", "held_cents", "unallocated_cents"];

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

  // The sums of the book accounts after every 2,048th row. The marks of a book are complete up to
  // its last row here.
  `CREATE TABLE ${table("book_marks")} (
     book               ${int64} NOT NULL REFERENCES ${table("book_keys")} (book),
     seq                ${int64} NOT NULL CHECK (seq > 0),
     reserve_cents      ${int64} NOT NULL CHECK (reserve_cents <= ${String(MAX_SUM_CENTS)}),
     shortfall_cents    ${int64} NOT NULL CHECK (shortfall_cents BETWEEN 0 AND ${String(MAX_SUM_CENTS)}),
     ${LIABILITIES.map((sum) => `${sum} ${int64} NOT NULL CHECK (${sum} BETWEEN 0 AND ${String(MAX_SUM_CENTS)}),`).join("\n     ")}
     PRIMARY KEY (book, seq),
     CHECK (reserve_cents + shortfall_cents = ${LIABILITIES.join(" + ")})
   ) ${clusteredTableOptions}`,

  // A read of an account's past status looks for the freezes that stood then.
  `CREATE INDEX freezes_by_account ON ${table("freezes")} (account_id, seq)`,
];
