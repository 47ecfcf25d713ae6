import type { UnixMillis } from "../../domain/values/time.js";
import { now } from "../../startup/clock.js";

const UNITS = [
  ["days", 86_400],
  ["hours", 3_600],
  ["minutes", 60],
] as const;

/** The age of a figure in whole seconds. A figure for a moment that has not come has none. */
export function ageSeconds(at: UnixMillis): number {
  return Math.floor(Math.max(0, now() - at) / 1_000);
}

/** The same for people, in the largest unit of which there are two or more. */
export function ageWords(at: UnixMillis): string {
  const seconds = ageSeconds(at);
  const [unit, size] = UNITS.find(([, seconds_]) => seconds >= 2 * seconds_) ?? ["seconds", 1];
  return `${String(Math.floor(seconds / size))} ${unit}`;
}
