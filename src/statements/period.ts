import { endOfDay, parseNairobiDay, startOfDay } from "../domain/values/nairobi-day.js";
import { type Parsed, parsed, unparsed } from "../domain/values/parsed.js";
import { toUnixMillis, type UnixMillis } from "../domain/values/time.js";

/**
 * A row can still be recorded with a time that is a little in the past. None is later than that.
 */
const FINAL_MILLIS = 60_000;

const TIME = /^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,9})?)?(Z|[+-][0-9]{2}:[0-9]{2})$/;
const PROBLEM = "must be a day in Kenya such as 2026-11-01, or a time such as 2026-11-01T09:00:00Z";

/** Parses both ends of a period, which a request names. */
export function parsePeriod(
  period: { readonly start: string; readonly end: string },
  now: UnixMillis,
): { readonly start: Parsed<UnixMillis>; readonly end: Parsed<UnixMillis> } {
  const start = parsePeriodStart(period.start);
  return { start, end: parsePeriodEnd(period.end, { start, now }) };
}

/** Parses the beginning of a period. A day means its first moment in Kenya. */
function parsePeriodStart(unchecked: string): Parsed<UnixMillis> {
  if (unchecked === "") return unparsed("is required", "REQUIRED");
  const day = parseNairobiDay(unchecked);
  return day.ok ? parsed(startOfDay(day.value)) : parseTime(unchecked);
}

/**
 * Parses the end of a period, which does not belong to it. A day means the end of that day in
 * Kenya. It must be final, and not before the beginning.
 */
function parsePeriodEnd(
  unchecked: string,
  { start, now }: { readonly start: Parsed<UnixMillis>; readonly now: UnixMillis },
): Parsed<UnixMillis> {
  if (unchecked === "") return unparsed("is required", "REQUIRED");
  const day = parseNairobiDay(unchecked);
  const end = day.ok ? parsed(endOfDay(day.value)) : parseTime(unchecked);
  if (!end.ok) return end;
  if (start.ok && end.value <= start.value) return unparsed("must be later than the start", "OUT_OF_RANGE");
  return isFinal(end.value, now)
    ? end
    : unparsed("must end at least 60 seconds ago: name an earlier day, or a time", "OUT_OF_RANGE");
}

/** Whether no later row can be recorded before this time. */
export function isFinal(time: UnixMillis, now: UnixMillis): boolean {
  return time <= now - FINAL_MILLIS;
}

function parseTime(unchecked: string): Parsed<UnixMillis> {
  const millis = TIME.test(unchecked) ? Date.parse(unchecked) : NaN;
  return Number.isNaN(millis) ? unparsed(PROBLEM) : parsed(toUnixMillis(millis));
}
