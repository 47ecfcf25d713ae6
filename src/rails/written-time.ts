import { toUnixMillis, type UnixMillis } from "../domain/values/time.js";
import { millisOfNairobi, nairobiDateTime } from "./nairobi-time.js";

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
