import { endOfMonth, type NairobiDay, nairobiDayOf, startOfMonth } from "./nairobi-day.js";
import { type Parsed, parsed, unparsed } from "./parsed.js";
import { toUnixMillis, type UnixMillis } from "./time.js";

/** A calendar month in Kenya, such as "2026-10". */
export type Month = string & { readonly brand: unique symbol };

const MONTH = /^[0-9]{4}-(0[1-9]|1[0-2])$/;

/** Parses a month such as "2026-10". */
export function parseMonth(unchecked: string): Parsed<Month> {
  if (unchecked === "") return unparsed("is required", "REQUIRED");
  return MONTH.test(unchecked) ? parsed(unchecked as Month) : unparsed("must be a month such as 2026-10");
}

/** Returns the first moment of a month, and that of the next one. */
export function periodOfMonth(month: Month): { readonly start: UnixMillis; readonly end: UnixMillis } {
  const first = `${month}-01` as NairobiDay;
  return { start: startOfMonth(first), end: endOfMonth(first) };
}

/** Returns the month of a moment. */
export function monthOf(time: UnixMillis): Month {
  return nairobiDayOf(time).slice(0, 7) as Month;
}

/** Returns the last day of a month. */
export function lastDayOfMonth(month: Month): NairobiDay {
  return nairobiDayOf(toUnixMillis(periodOfMonth(month).end - 1));
}
