import { type Parsed, parsed, unparsed } from "./parsed.js";

/**
 * Money: a whole number of cents from 0 to MAX_CENTS. It counts KES or KESC; one KES is one KESC.
 *
 * Only this module creates a value of this type, so no float and no rounding can enter.
 */
export type Cents = number & { readonly brand: unique symbol };

// 15 digits: a JSON number represents every amount up to this one exactly.
export const MAX_CENTS = 999_999_999_999_999 as Cents;
export const NO_CENTS = 0 as Cents;

/**
 * Brands a whole number of cents that comes from our own database or code. Throws a RangeError for
 * any other number, because that is a bug.
 */
export function toCents(count: number): Cents {
  if (!Number.isSafeInteger(count) || count < 0 || count > MAX_CENTS) {
    throw new RangeError(`${String(count)} is not a whole number of cents from 0 to ${String(MAX_CENTS)}`);
  }
  return count as Cents;
}

/** Throws a RangeError above MAX_CENTS. The caller must check the limit first. */
export function addCents(left: Cents, right: Cents): Cents {
  return toCents(left + right);
}

/** Throws a RangeError below zero. The caller must check the balance first. */
export function subtractCents(from: Cents, amountCents: Cents): Cents {
  return toCents(from - amountCents);
}

// Leading zeros, a plus, exponents and blanks are not allowed.
const DECIMAL = /^(-?)(0|[1-9][0-9]*)(?:\.([0-9]{1,2}))?$/;
export const TOO_SMALL = "must be more than zero";
const DIGITS_BEFORE_POINT_MAX = 13;

/**
 * Parses the amount of a mint or redemption: a decimal above zero and up to 9999999999999.99, with
 * at most two fraction digits. Examples: "1000", "1000.5", "1000.00". Refuses anything else. Never
 * rounds.
 */
export function parseAmount(unchecked: string): Parsed<Cents> {
  const match = DECIMAL.exec(unchecked);
  if (match === null) {
    return unchecked === ""
      ? unparsed("is required", "REQUIRED")
      : unparsed("must be a decimal such as 1000.00, with at most two fraction digits");
  }
  const [, sign = "", shillings = "", fraction = ""] = match;
  if (sign !== "") return unparsed(TOO_SMALL, "OUT_OF_RANGE");
  if (shillings.length > DIGITS_BEFORE_POINT_MAX) return unparsed("must be at most 9999999999999.99", "OUT_OF_RANGE");
  // The digits, joined, are the number of cents. The code multiplies nothing, so it rounds nothing.
  const count = Number(`${shillings}${fraction.padEnd(2, "0")}`);
  return count > 0 ? parsed(toCents(count)) : unparsed(TOO_SMALL, "OUT_OF_RANGE");
}

/** Formats cents as a decimal with two fraction digits: 100000 becomes "1000.00". */
export function formatCents(amountCents: number | bigint): string {
  const digits = String(amountCents).padStart(3, "0");
  return `${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

/** Formats cents as people read them: 5000000 becomes "50,000.00 KES". */
export function amountText(amountCents: number): string {
  return `${formatCents(amountCents).replaceAll(/\B(?=(?:[0-9]{3})+\.)/g, ",")} KES`;
}
