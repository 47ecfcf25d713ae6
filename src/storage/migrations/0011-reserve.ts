import { MAX_CENTS } from "../../domain/values/cents.js";
import type { Migration } from "./migration.js";

/**
 * Where the reserve of each organization lies: the last figure of each place, as the operator
 * recorded it. A row summarizes the journal row `reserve.recorded` with its `seq`.
 */
export const reserve: Migration = ({ int64, table, tableOptions }) => [
  `CREATE TABLE ${table("reserve_places")} (
     book          ${int64} NOT NULL REFERENCES ${table("book_keys")} (book),
     place         TEXT NOT NULL CHECK (place <> ''),
     seq           ${int64} NOT NULL CHECK (seq > 1),
     amount_cents  ${int64} NOT NULL CHECK (amount_cents BETWEEN 0 AND ${String(MAX_CENTS)}),
     as_of_day     TEXT NOT NULL CHECK (length(as_of_day) = 10),
     evidence      TEXT NOT NULL CHECK (evidence <> ''),
     recorded_at   ${int64} NOT NULL,
     PRIMARY KEY (book, place)
   ) ${tableOptions}`,
];
