import { toUnixMillis, type UnixMillis } from "../../../domain/values/time.js";
import { millisOfNairobi, nairobiDateTime } from "../nairobi-time.js";

/** A time as a statement has it. With the year at its end, day and month may be either. */
export interface WrittenTime {
  readonly isYearFirst: boolean;
  readonly dayFirst: UnixMillis | undefined;
  readonly monthFirst: UnixMillis | undefined;
}

export type DateOrder = "dayFirst" | "monthFirst";

const TIME = /^(\d{1,4})[-/](\d{1,2})[-/](\d{1,4})[ T]+(\d{1,2}):(\d{2})(?::(\d{2})(?:\.0+)?)?\s*([AP]M)?$/i;
const NOON = 12;

/** Reads the forms of a time that statements have. Undefined for any other text. */
export function writtenTime(text: string): WrittenTime | undefined {
  const found = TIME.exec(text.trim());
  if (found === null) return undefined;
  const [, first = "", middle = "", last = "", hour = "", minute = "", second = "00", half] = found;
  const hours = hourOf(Number(hour), half?.toUpperCase());
  if (hours === undefined) return undefined;
  const at = (year: string, month: string, day: string): UnixMillis | undefined => {
    if (year.length !== 4 || month.length > 2 || day.length > 2) return undefined;
    const date = `${year}-${month.padStart(2, "0")}-${day.padStart(2, "0")}`;
    const written = `${date} ${String(hours).padStart(2, "0")}:${minute}:${second}`;
    const millis = millisOfNairobi(written);
    // JavaScript takes 31 November for 1 December.
    if (millis === undefined || nairobiDateTime(toUnixMillis(millis)) !== written) return undefined;
    return toUnixMillis(millis);
  };
  const isYearFirst = first.length === 4;
  const [dayFirst, monthFirst] = isYearFirst
    ? [at(first, middle, last), at(first, last, middle)]
    : [at(last, middle, first), at(last, first, middle)];
  if (isYearFirst ? dayFirst === undefined : dayFirst === undefined && monthFirst === undefined) return undefined;
  return { isYearFirst, dayFirst, monthFirst };
}

function hourOf(hour: number, half: string | undefined): number | undefined {
  if (half === undefined) return hour;
  if (hour < 1 || hour > NOON) return undefined;
  return (hour % NOON) + (half === "PM" ? NOON : 0);
}

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
