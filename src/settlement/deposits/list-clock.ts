import { toUnixMillis, type UnixMillis } from "../../domain/values/time.js";
import type { RailPeriod, UnreadableRow } from "../../rails/rail.js";
import { CLOCKS_MILLIS } from "../limits.js";
import type { BookedReceipt } from "../ports/deposits.js";

/** In which zone the doubtful times of a list are. `neither`: its rows contradict both. */
export type ListClock = "utc" | "local" | "neither";

type TimedRow = Pick<UnreadableRow, "receipt" | "receivedAt" | "doubtful">;

/**
 * Finds the zone of a list's doubtful times by what cannot be: a payment comes neither after now,
 * nor after the book has learned its receipt, nor before its order. Undefined if no row tells it.
 */
export function clockOf(
  rows: readonly TimedRow[],
  { booked, now }: { readonly booked: ReadonlyMap<string, BookedReceipt>; readonly now: UnixMillis },
): ListClock | undefined {
  let isUtcWrong = false;
  let isLocalWrong = false;
  for (const { receipt, doubtful } of rows) {
    if (doubtful === undefined) continue;
    const { learnedAt = now, orderedAt = -Infinity } = booked.get(receipt ?? "") ?? {};
    isUtcWrong ||= doubtful.ifUtc > learnedAt + CLOCKS_MILLIS;
    isLocalWrong ||= doubtful.ifLocal < orderedAt - CLOCKS_MILLIS;
  }
  if (isUtcWrong && isLocalWrong) return "neither";
  if (isUtcWrong) return "local";
  return isLocalWrong ? "utc" : undefined;
}

/** When the payment of a row came in. */
export interface RowTime {
  readonly earliest: UnixMillis;
  readonly latest: UnixMillis;
  /** The moment that is believed. */
  readonly at: UnixMillis | undefined;
}

/** Reads the time of a row. The rail lists only what came in during the period. */
export function timeOfRow(
  { receivedAt, doubtful }: TimedRow,
  { clock, period, now }: { clock: ListClock | undefined; period: RailPeriod; now: UnixMillis },
): RowTime {
  const known = clock === "utc" ? doubtful?.ifUtc : clock === "local" ? doubtful?.ifLocal : undefined;
  const at = receivedAt ?? known;
  if (at !== undefined && at <= now + CLOCKS_MILLIS) return { earliest: at, latest: at, at };
  if (at !== undefined || doubtful === undefined) return { earliest: period.from, latest: now, at: undefined };
  const { ifUtc, ifLocal, saysUtc } = doubtful;
  const latest = toUnixMillis(Math.min(ifUtc, Math.max(now, ifLocal)));
  return { earliest: ifLocal, latest, at: saysUtc && clock === undefined ? ifUtc : undefined };
}
