import { type Parsed, parsed, unparsed } from "../../domain/values/parsed.js";
import { toUnixMillis, type UnixMillis } from "../../domain/values/time.js";
import type { Timestamp } from "../../gen/google/protobuf/timestamp.js";

const NANOS_IN_MILLI = 1_000_000;
const NANOS_MAX = 999_999_999;
const FIRST_SECOND = -62_135_596_800n; // 0001-01-01T00:00:00Z
const LAST_SECOND = 253_402_300_799n; // 9999-12-31T23:59:59Z

export function toTimestamp(moment: UnixMillis): Timestamp {
  const seconds = Math.floor(moment / 1_000);
  return { seconds: BigInt(seconds), nanos: (moment - seconds * 1_000) * NANOS_IN_MILLI };
}

/**
 * Parses a time, in the years 1 to 9999. Rounds it up to the next millisecond. Stored
 * times have whole milliseconds, so the rounded time is before and after the same rows.
 */
export function parseMoment(unchecked: Timestamp | undefined): Parsed<UnixMillis | undefined> {
  if (unchecked === undefined) return parsed(undefined);
  const { seconds, nanos } = unchecked;
  return seconds >= FIRST_SECOND && seconds <= LAST_SECOND && nanos >= 0 && nanos <= NANOS_MAX
    ? parsed(toUnixMillis(Number(seconds) * 1_000 + Math.ceil(nanos / NANOS_IN_MILLI)))
    : unparsed("must be a time in the years 1 to 9999", "OUT_OF_RANGE");
}
