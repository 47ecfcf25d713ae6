import { toUnixMillis, type UnixMillis } from "../domain/values/time.js";
import { FAILURES_MAX, JITTER_SHARE, PROBE_MILLIS, RETRY_AFTER_MILLIS_MAX, RETRY_MILLIS } from "./limits.js";

interface Moment {
  readonly now: UnixMillis;
  /** The receiver asks for this wait. */
  readonly retryAfterMillis: number | undefined;
  /** A number from 0 to 1. */
  readonly random: number;
}

/** Returns when an event is tried again after `tries` attempts. Undefined: it is given up. */
export function nextTryAt(tries: number, moment: Moment): UnixMillis | undefined {
  const wait = RETRY_MILLIS[tries - 1];
  return wait === undefined ? undefined : after(wait, moment);
}

/** Returns when the next probe goes to an endpoint that has failed so often in a row. */
export function nextProbeAt(failures: number, moment: Moment): UnixMillis {
  const index = Math.min(Math.max(0, failures - FAILURES_MAX), PROBE_MILLIS.length - 1);
  return after(PROBE_MILLIS[index] ?? 0, moment);
}

function after(wait: number, { now, retryAfterMillis = 0, random }: Moment): UnixMillis {
  const longer = Math.round(wait * (1 + random * JITTER_SHARE));
  return toUnixMillis(now + Math.max(longer, Math.min(retryAfterMillis, RETRY_AFTER_MILLIS_MAX)));
}

/** Reads a Retry-After header: seconds, or a date. Undefined if it is neither. */
export function parseRetryAfter(text: string | undefined, now: UnixMillis): number | undefined {
  if (text === undefined) return undefined;
  if (/^[0-9]{1,9}$/.test(text)) return Number(text) * 1_000;
  const at = /^[A-Z][a-z]{2}, /.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}
