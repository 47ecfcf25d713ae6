import { parseAmount } from "../domain/values/cents.js";

// A comma stands before three digits. "12,50" is no amount: read without its comma it is 1250.
const GROUPED = /^\d{1,3}(,\d{3})+(\.\d{1,2})?$/;
const NONE = /^(-|0+(\.0{1,2})?)?$/;

/**
 * Reads an amount in any form in which M-Pesa or a bank writes one: "1,053.00", "30.0", "7800",
 * "-5.50", "(300.00)". Returns cents, below zero for a minus or for parentheses, undefined for no
 * text or a zero, and "bad" for any other text.
 */
export function signedAmount(text: string): number | "bad" | undefined {
  const trimmed = text.trim();
  const [, inside] = /^\((.+)\)$/.exec(trimmed) ?? [];
  const digits = inside ?? trimmed.replace(/^-(?=.)/, "");
  const isNegative = digits !== trimmed;
  if (NONE.test(digits)) return undefined;
  const amount = parseAmount(GROUPED.test(digits) ? digits.replaceAll(",", "") : digits);
  if (!amount.ok) return "bad";
  const cents: number = amount.value;
  return isNegative ? -cents : cents;
}
