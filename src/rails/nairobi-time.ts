import type { UnixMillis } from "../domain/values/time.js";

// Kenya has had one offset from UTC since 1960, and no summer time.
const OFFSET_MILLIS = 3 * 3_600_000;

/** Formats a moment as Daraja's requests want it: "20261122131500" in Nairobi's time. */
export function nairobiDigits(at: UnixMillis): string {
  return nairobiDateTime(at).replace(/\D/g, "");
}

/** Formats a moment as "2026-11-22 13:15:00" in Nairobi's time. */
export function nairobiDateTime(at: UnixMillis): string {
  return new Date(at + OFFSET_MILLIS).toISOString().slice(0, 19).replace("T", " ");
}

const DATE_TIME = /^\d{4}-\d{2}-\d{2} \d{2}:\d{2}(:\d{2})?$/;

/** The inverse of `nairobiDateTime`, also without seconds. Undefined for any other text. */
export function millisOfNairobi(text: string): number | undefined {
  const millis = DATE_TIME.test(text) ? Date.parse(`${text.replace(" ", "T")}Z`) - OFFSET_MILLIS : NaN;
  return Number.isNaN(millis) ? undefined : millis;
}
