import { timeText } from "../view/values.js";

/** A point in the past of a book: the fields of a request, and its words. */
export interface AsOf {
  readonly fields: Readonly<Record<string, unknown>>;
  readonly words: string;
}

const DAY_MILLIS = 86_400_000;

/**
 * Reads `as_of` of a URL: a day in Kenya, which is included, a time, or "row-12345". Returns
 * undefined for anything else, and for a moment of the last 60 seconds: that is now.
 */
export function asOfIn(query: URLSearchParams): AsOf | undefined {
  const text = query.get("as_of") ?? "";
  const [, sequence] = /^row-([1-9][0-9]{0,14})$/.exec(text) ?? [];
  if (sequence !== undefined)
    return { fields: { as_of_sequence: Number(sequence) }, words: `row ${Number(sequence).toLocaleString("en")}` };
  const isDay = /^[0-9]{4}-[0-9]{2}-[0-9]{2}$/.test(text);
  const given = new Date(isDay ? `${text}T00:00:00+03:00` : text);
  if (Number.isNaN(given.getTime()) || (!isDay && !/T.*Z$/.test(text))) return undefined;
  const at = new Date(given.getTime() + (isDay ? DAY_MILLIS : 0));
  if (at.getTime() > Date.now() - 60_000) return undefined;
  return { fields: { as_of_time: at.toISOString() }, words: timeText(new Date(at.getTime() - 1)) };
}
