/** The two fields of a google.protobuf.Timestamp. */
export interface Time {
  readonly seconds: number;
  readonly nanos: number;
}

const RFC_3339 = /^(\d{4})-(\d{2})-(\d{2})[Tt]\d{2}:\d{2}:\d{2}(?:\.(\d{1,9}))?(?:[Zz]|[+-]\d{2}:\d{2})$/;

/** Parses a Date or a text of RFC 3339. Returns undefined for anything else. */
export function parseTime(value: unknown): Time | undefined {
  const text = value instanceof Date && !Number.isNaN(value.getTime()) ? value.toISOString() : value;
  const match = typeof text === "string" ? RFC_3339.exec(text) : null;
  if (match === null) return undefined;
  const [year, month, day] = match.slice(1, 4).map(Number) as [number, number, number];
  // Date.parse takes 30 February for 2 March.
  if (day > new Date(Date.UTC(year, month, 0)).getUTCDate()) return undefined;
  const millis = Date.parse(match[0]);
  const nanos = Number((match[4] ?? "").padEnd(9, "0"));
  return Number.isNaN(millis) ? undefined : { seconds: Math.floor(millis / 1_000), nanos };
}

/** Writes RFC 3339 in UTC with milliseconds, as REST does. The service has nothing finer. */
export function formatTime({ seconds, nanos }: Time): string {
  return new Date(seconds * 1_000 + Math.floor(nanos / 1_000_000)).toISOString();
}
