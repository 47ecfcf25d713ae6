import type { BookAccount } from "../domain/journal.js";
import type { RowOf } from "../model/column.js";
import type { JOURNAL } from "../model/transactions.js";

/** The posting of a journal row, as the driver reads it. Its values may be invalid. */
export type PostingColumns = Pick<RowOf<typeof JOURNAL>, "debit" | "credit" | "amount_cents">;

/** The two book accounts of a posting. */
export interface Direction {
  readonly debit: BookAccount;
  readonly credit: BookAccount;
}

// Repeated on purpose: an audit must not depend on the code that it audits.
/** A debit adds to these, and takes from the others. */
const ASSETS: ReadonlySet<string> = new Set(["reserve", "shortfall", "charges"]);

/**
 * Adds the posting of a row to the sums of the book accounts. Leaves a posting out that cannot be
 * right: another check finds it. Returns its amount.
 */
export function post(sums: Record<string, bigint>, { debit, credit, amount_cents: cents }: PostingColumns): bigint {
  if (debit === null || credit === null || !Number.isSafeInteger(cents)) return 0n;
  const amount = BigInt(cents ?? 0);
  sums[debit] = (sums[debit] ?? 0n) + (ASSETS.has(debit) ? amount : -amount);
  sums[credit] = (sums[credit] ?? 0n) + (ASSETS.has(credit) ? -amount : amount);
  return amount;
}

const INTEGER = /^(-?)([0-9]+)$/;

/**
 * Formats any number of cents as a decimal: 100000 becomes "1000.00". Returns a value that is not a
 * number of cents as it is.
 */
export function decimalOf(cents: bigint | number | string | null): string {
  const text = String(cents);
  const [, sign, count] = INTEGER.exec(text) ?? [];
  if (sign === undefined || count === undefined) return text;
  const digits = count.padStart(3, "0");
  return `${sign}${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

/** Equal postings give the same text, and different postings give different texts. */
export function describePosting({ debit, credit, amount_cents: amountCents }: PostingColumns): string {
  if (debit === null && credit === null && amountCents === null) return "no posting";
  return `debit ${String(debit)}, credit ${String(credit)}, ${decimalOf(amountCents)}`;
}

/** Equal balances give the same text, and different balances give different texts. */
export function describeBalances(availableCents: number | null, heldCents: number | null): string {
  return `available ${decimalOf(availableCents)}, held ${decimalOf(heldCents)}`;
}
