import type { BookAccount } from "../domain/journal.js";

/**
 * How a row of the journal holds its posting, as the driver reads it: not yet known to make sense.
 */
export interface PostingColumns {
  readonly debit: string | null;
  readonly credit: string | null;
  readonly amount_cents: number | null;
}

/** Between which book accounts a posting goes. */
export interface Direction {
  readonly debit: BookAccount;
  readonly credit: BookAccount;
}

/**
 * Writes cents as a decimal, however many they are: 100000 becomes "1000.00". Also what should be
 * cents and is not.
 */
export function decimalOf(cents: bigint | number | null): string {
  if (cents === null || (typeof cents === "number" && !Number.isSafeInteger(cents))) return String(cents);
  const digits = String(cents).replace("-", "").padStart(3, "0");
  return `${cents < 0 ? "-" : ""}${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

/** The same text for the same posting, and only for that. */
export function describePosting({ debit, credit, amount_cents: amountCents }: PostingColumns): string {
  if (debit === null && credit === null && amountCents === null) return "no posting";
  return `debit ${String(debit)}, credit ${String(credit)}, ${decimalOf(amountCents)}`;
}

/** The same text for the same balances, and only for those. */
export function describeBalances(availableCents: number, heldCents: number): string {
  return `available ${decimalOf(availableCents)}, held ${decimalOf(heldCents)}`;
}
