import { type Parsed, parsed, unparsed } from "./parsed.js";
import { toUnixMillis, type UnixMillis } from "./time.js";

/** A calendar day in Kenya, such as "2026-11-01". */
export type NairobiDay = string & { readonly brand: unique symbol };

/** Kenya has been three hours ahead of UTC since 1960, in summer and winter. */
const OFFSET_MILLIS = 3 * 3_600_000;
const DAY_MILLIS = 24 * 3_600_000;
const DAY = /^[0-9]{4}-[0-9]{2}-[0-9]{2}$/;

/** Parses a day such as "2026-11-01". */
export function parseNairobiDay(unchecked: string): Parsed<NairobiDay> {
  if (unchecked === "") return unparsed("is required", "REQUIRED");
  // Date takes 2027-02-31 for a day in March.
  const midnight = DAY.test(unchecked) ? new Date(`${unchecked}T00:00:00Z`) : new Date(NaN);
  return !Number.isNaN(midnight.getTime()) && midnight.toISOString().startsWith(unchecked)
    ? parsed(unchecked as NairobiDay)
    : unparsed("must be a day such as 2026-11-01");
}

/** Returns the first moment of a day. */
export function startOfDay(day: NairobiDay): UnixMillis {
  return toUnixMillis(new Date(`${day}T00:00:00Z`).getTime() - OFFSET_MILLIS);
}

/** Returns the first moment of the next day. */
export function endOfDay(day: NairobiDay): UnixMillis {
  return toUnixMillis(startOfDay(day) + DAY_MILLIS);
}

/** Returns the first moment of the calendar month in which a day lies. */
export function startOfMonth(day: NairobiDay): UnixMillis {
  return startOfDay(`${day.slice(0, 7)}-01` as NairobiDay);
}

/** Returns the first moment of the next calendar month. */
export function endOfMonth(day: NairobiDay): UnixMillis {
  const next = new Date(startOfMonth(day) + OFFSET_MILLIS);
  next.setUTCMonth(next.getUTCMonth() + 1);
  return toUnixMillis(next.getTime() - OFFSET_MILLIS);
}

/** Returns the day in which a moment lies. */
export function nairobiDayOf(moment: UnixMillis): NairobiDay {
  return new Date(moment + OFFSET_MILLIS).toISOString().slice(0, 10) as NairobiDay;
}
