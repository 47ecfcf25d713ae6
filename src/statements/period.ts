import { endOfDay, type NairobiDay, parseNairobiDay, startOfDay } from "../domain/values/nairobi-day.js";
import { type Parsed, parsed, unparsed } from "../domain/values/parsed.js";
import { toUnixMillis, type UnixMillis } from "../domain/values/time.js";

/**
 * A row can still be recorded with a time that is a little in the past. None is later than that.
 */
const FINAL_MILLIS = 60_000;

/** RFC 3339. Date.parse also takes other forms, 30 February and 24:00. */
const TIME =
  /^([0-9]{4}-[0-9]{2}-[0-9]{2})T(?:[01][0-9]|2[0-3])(?::[0-5][0-9]){2}(?:\.[0-9]{1,9})?(?:Z|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])$/i;
/** The years of a google.protobuf.Timestamp. */
const [FIRST_MOMENT, LAST_MOMENT] = [Date.parse("0001-01-01T00:00:00Z"), Date.parse("9999-12-31T23:59:59.999Z")];
const PROBLEM = "must be a day in Kenya such as 2026-11-01, or a time such as 2026-11-01T09:00:00Z";

/** The two ends of a range, as a request names them. The empty text is an absent end. */
export interface RangeText {
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
  const moment = day.ok ? parsed(momentOf(day.value)) : parseTime(unchecked);
  if (!moment.ok || (moment.value >= FIRST_MOMENT && moment.value <= LAST_MOMENT)) return moment;
  return unparsed("must be in the years 1 to 9999", "OUT_OF_RANGE");
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
  const [, day] = TIME.exec(unchecked) ?? [];
  if (day === undefined || !parseNairobiDay(day).ok) return unparsed(PROBLEM);
  const isBetween = /\.[0-9]{3}[0-9]*[1-9]/.test(unchecked);
  return parsed(toUnixMillis(Date.parse(unchecked.toUpperCase()) + (isBetween ? 1 : 0)));
}
