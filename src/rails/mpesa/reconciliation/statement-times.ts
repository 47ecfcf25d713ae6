import type { UnixMillis } from "../../../domain/values/time.js";
import { millisOfNairobi } from "../../nairobi-time.js";

const FIRST_YEAR = 2006;
const LETTER_A = 65;

/**
 * Returns the day on which M-Pesa made a receipt, such as "2026-11-24": its first three characters
 * are the year from A = 2006, the month from A, and the day as 1 to 9 and then from A = 10.
 * Undefined if they are no day.
 */
function receiptDay(receipt: string): string | undefined {
  const [year = "", month = "", day = ""] = receipt;
  if (!/^[A-Z]$/.test(year) || !/^[A-L]$/.test(month) || !/^[1-9A-V]$/.test(day)) return undefined;
  const two = (number: number): string => String(number).padStart(2, "0");
  const years = FIRST_YEAR + year.charCodeAt(0) - LETTER_A;
  return `${String(years)}-${two(month.charCodeAt(0) - LETTER_A + 1)}-${two(parseInt(day, 36))}`;
}

const DAY_MILLIS = 86_400_000;
// M-Pesa makes the receipt first, and may complete the payment later. A swapped date is 28 days
// away.
const COMPLETED_WITHIN_DAYS = 8;

/** Whether a payment with the receipt can have been completed then. Undefined: it names no day. */
export function isOfReceipt(receipt: string, at: UnixMillis): boolean | undefined {
  const day = receiptDay(receipt);
  const begin = day === undefined ? undefined : millisOfNairobi(`${day} 00:00:00`);
  return begin === undefined ? undefined : at >= begin && at < begin + COMPLETED_WITHIN_DAYS * DAY_MILLIS;
}
