import { MAX_SUM_CENTS } from "../../domain/book.js";
import type { Migration } from "./migration.js";

const SUMS = "reserve_cents + shortfall_cents";
const LIABILITIES = "available_cents + held_cents + unallocated_cents";
const EQUATION = `CHECK (${SUMS} = ${LIABILITIES})`;
const ACCOUNTS = "'reserve', 'shortfall', 'available', 'held', 'unallocated'";

/**
 * The book account `charges`: what rails took for their work, less what the organization put in for
 * that (docs/adr/0065). It may be below zero.
 */
export const charges: Migration = ({ int64, table, changeCheck }) => [
  ...["books", "book_marks"].flatMap((name) => [
    `ALTER TABLE ${table(name)} ADD COLUMN charges_cents ${int64} NOT NULL DEFAULT 0
       CHECK (charges_cents BETWEEN -${String(MAX_SUM_CENTS)} AND ${String(MAX_SUM_CENTS)})`,
    ...changeCheck(name, {
      constraint: `${name}_check`,
      was: EQUATION,
      is: `CHECK (${SUMS} + charges_cents = ${LIABILITIES})`,
    }),
  ]),
  `ALTER TABLE ${table("seals")} ADD COLUMN charges_cents ${int64} NOT NULL DEFAULT 0`,
  ...["debit", "credit"].flatMap((side) =>
    changeCheck("journal", {
      constraint: `journal_${side}_check`,
      was: `CHECK (${side} IN (${ACCOUNTS}))`,
      is: `CHECK (${side} IN (${ACCOUNTS}, 'charges'))`,
    }),
  ),
];
