import { type Parsed, parsed, unparsed } from "./parsed.js";

/**
 * Money: a whole number of cents, 0 to MAX_CENTS. The same type counts KES and KESC, which are one
 * to one.
 *
 * Only this module makes one, so that no float and no rounding can get in.
 */
export type Cents = number & { readonly brand: unique symbol };

// 15 digits: every amount up to here survives a trip through a JSON number.
export const MAX_CENTS = 999_999_999_999_999 as Cents;
export const NO_CENTS = 0 as Cents;

/**
 * Brands a whole number of cents that our own storage or code made. Throws a RangeError for
 * anything else: a bug.
 */
export function toCents(count: number): Cents {
  if (!Number.isSafeInteger(count) || count < 0 || count > MAX_CENTS) {
    throw new RangeError(`${String(count)} is not an amount of cents`);
  }
  return count as Cents;
}

/** Throws a RangeError past MAX_CENTS: whoever adds has checked that it fits. */
export function addCents(left: Cents, right: Cents): Cents {
  return toCents(left + right);
}

/** Throws a RangeError below zero: whoever subtracts has checked that it is there. */
export function subtractCents(from: Cents, amountCents: Cents): Cents {
  return toCents(from - amountCents);
}

// Up to 13 digits before the point; leading zeros, signs, exponents and blanks are not amounts.
const DECIMAL = /^(0|[1-9][0-9]{0,12})(?:\.([0-9]{1,2}))?$/;

/**
 * Parses an amount of money to move: a decimal above zero with at most two fraction digits, such as
 * "1000", "1000.5" or "1000.00", up to 9999999999999.99. Refuses anything else; never rounds.
 */
export function parseAmount(unchecked: string): Parsed<Cents> {
  const match = DECIMAL.exec(unchecked);
  if (match === null) {
    return unparsed(
      unchecked === ""
        ? "is required"
        : "must be a decimal such as 1000.00, with at most two fraction digits, up to 9999999999999.99",
    );
  }
  // The digits themselves, joined, are the number of cents: nothing is multiplied, so nothing is
  // rounded.
  const [, shillings = "", fraction = ""] = match;
  const count = Number(`${shillings}${fraction.padEnd(2, "0")}`);
  return count > 0 ? parsed(toCents(count)) : unparsed("must be more than zero");
}

/** Writes cents as a decimal with two fraction digits: 100000 becomes "1000.00". */
export function formatCents(amountCents: Cents): string {
  const digits = String(amountCents).padStart(3, "0");
  return `${digits.slice(0, -2)}.${digits.slice(-2)}`;
}
