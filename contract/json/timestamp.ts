import { parsed, type ReadValue, unparsed } from "../field-problem.js";

/** The two fields of a google.protobuf.Timestamp. */
export interface TimestampFields {
  readonly seconds: bigint;
  readonly nanos: number;
}

const RFC_3339 = /^(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,9}))?(?:[Zz]|([+-])(\d{2}):(\d{2}))$/;

const PROBLEM = "must be an RFC 3339 time such as 2026-01-31T12:00:00Z";
const FIRST_SECOND = Date.parse("0001-01-01T00:00:00Z") / 1000;
const LAST_SECOND = Date.parse("9999-12-31T23:59:59Z") / 1000;

/**
 * Parses an RFC 3339 time of the years 1 to 9999, to the nanosecond. Refuses leap seconds and days
 * that do not exist, such as 30 February.
 */
export function parseTimestamp(text: string): ReadValue<TimestampFields> {
  const match = RFC_3339.exec(text);
  if (match === null) return unparsed(PROBLEM);
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const [offsetHour, offsetMinute] = [Number(match[9] ?? 0), Number(match[10] ?? 0)];
  if (hour > 23 || minute > 59 || second > 59 || offsetHour > 23 || offsetMinute > 59) return unparsed(PROBLEM);

  // Not Date.UTC: it reads the years 0 to 99 as 1900 to 1999.
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return unparsed(PROBLEM);

  const offsetSeconds = (match[8] === "-" ? -1 : 1) * (offsetHour * 3600 + offsetMinute * 60);
  const seconds = date.getTime() / 1000 + hour * 3600 + minute * 60 + second - offsetSeconds;
  if (seconds < FIRST_SECOND || seconds > LAST_SECOND) return unparsed(PROBLEM);
  return parsed({ seconds: BigInt(seconds), nanos: Number((match[7] ?? "").padEnd(9, "0")) });
}

/** Writes RFC 3339 in UTC. Cuts off digits below the millisecond. */
export function formatTimestamp({ seconds, nanos }: TimestampFields): string {
  return new Date(Number(seconds) * 1000 + Math.floor(nanos / 1_000_000)).toISOString();
}
