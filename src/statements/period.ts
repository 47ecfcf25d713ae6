import { endOfDay, type NairobiDay, parseNairobiDay, startOfDay } from "../domain/values/nairobi-day.js";
import { type Parsed, parsed, unparsed } from "../domain/values/parsed.js";
import { toUnixMillis, type UnixMillis } from "../domain/values/time.js";

/**
 * A row can still be recorded with a time that is a little in the past. None is later than that.
 */
const FINAL_MILLIS = 60_000;

const TIME = /^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,9})?)?(Z|[+-][0-9]{2}:[0-9]{2})$/;
const PROBLEM = "must be a day in Kenya such as 2026-11-01, or a time such as 2026-11-01T09:00:00Z";

/** The two ends of a range, as a request names them. The empty text is an absent end. */
interface RangeText {
  readonly start: string;
  readonly end: string;
}

/** The start belongs to a range, the end does not. */
type ParsedRange<End> = Readonly<Record<"start" | "end", Parsed<End>>>;

/** Parses both ends of a period. Each is required, and the end must be final. */
export function parsePeriod(text: RangeText, now: UnixMillis): ParsedRange<UnixMillis> {
  const { start, end } = parseRange(text);
  return { start: required(start), end: final(required(end), now) };
}

/**
 * Parses both ends of a range, each of which may be absent. A day is a day in Kenya: its first
 * moment as the start, and the first moment of the next day as the end.
 */
export function parseRange(text: RangeText): ParsedRange<UnixMillis | undefined> {
  const start = parseMoment(text.start, startOfDay);
  const end = parseMoment(text.end, endOfDay);
  const isEmpty =
    start.ok && end.ok && start.value !== undefined && end.value !== undefined && end.value <= start.value;
  return { start, end: isEmpty ? unparsed("must be later than the start", "OUT_OF_RANGE") : end };
}

function parseMoment(unchecked: string, momentOf: (day: NairobiDay) => UnixMillis): Parsed<UnixMillis | undefined> {
  if (unchecked === "") return parsed(undefined);
  const day = parseNairobiDay(unchecked);
  return day.ok ? parsed(momentOf(day.value)) : parseTime(unchecked);
}

function required(end: Parsed<UnixMillis | undefined>): Parsed<UnixMillis> {
  if (!end.ok) return end;
  return end.value === undefined ? unparsed("is required", "REQUIRED") : parsed(end.value);
}

function final(end: Parsed<UnixMillis>, now: UnixMillis): Parsed<UnixMillis> {
  return !end.ok || isFinal(end.value, now)
    ? end
    : unparsed("must end at least 60 seconds ago: name an earlier day, or a time", "OUT_OF_RANGE");
}

/** Whether no later row can be recorded before this time. */
export function isFinal(time: UnixMillis, now: UnixMillis): boolean {
  return time <= now - FINAL_MILLIS;
}

/** Rounds up: stored times have whole milliseconds, so the rounded end has the same rows. */
function parseTime(unchecked: string): Parsed<UnixMillis> {
  const millis = TIME.test(unchecked) ? Date.parse(unchecked) : NaN;
  const isBetween = /\.[0-9]{3}[0-9]*[1-9]/.test(unchecked);
  return Number.isNaN(millis) ? unparsed(PROBLEM) : parsed(toUnixMillis(millis + (isBetween ? 1 : 0)));
}
