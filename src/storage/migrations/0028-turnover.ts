import type { Migration } from "./migration.js";

/**
 * All KESC that entered and left circulation up to a mark (docs/adr/0045). The marks begin again:
 * their worker derives them from the journal, and a read without them is right, too. The columns
 * have no default, so a program that does not know them writes no wrong mark.
 */
export const turnover: Migration = ({ int64, table }) => [
  `DELETE FROM ${table("book_marks")}`,
  `ALTER TABLE ${table("book_marks")} ADD COLUMN minted_cents ${int64} NOT NULL CHECK (minted_cents >= 0)`,
  `ALTER TABLE ${table("book_marks")} ADD COLUMN redeemed_cents ${int64} NOT NULL CHECK (redeemed_cents >= 0)
     CONSTRAINT book_marks_turnover_check CHECK (minted_cents - redeemed_cents = available_cents + held_cents)`,
];
