import { toUnixMillis, type UnixMillis } from "../../domain/values/time.js";
import type { RailPeriod } from "../../rails/rail.js";
import { LIST_BACK_MILLIS, LIST_BACK_MILLIS_MAX, LIST_LAG_MILLIS, LIST_MILLIS } from "../limits.js";
import type { DueList } from "../ports/deposits.js";

const DAY_MILLIS = 86_400_000;

/**
 * Returns the period to list. The first list of a day is a long one, and so is one after an outage.
 * A list begins before `since`: which moment the rail understands is not certain.
 */
export function periodOf({ since, readAt }: DueList, now: UnixMillis): RailPeriod {
  const isLong = readAt === undefined || dayOf(readAt) !== dayOf(now);
  const fromMillis = isLong ? now - LIST_BACK_MILLIS_MAX : Math.min(now, readAt) - LIST_BACK_MILLIS;
  return { from: toUnixMillis(Math.max(fromMillis, since - LIST_BACK_MILLIS)), to: now };
}

/** Why a list is read. The time between the last reading and the next one tells it. */
export type Cause = "a confirmation" | "a lag" | "the time";

export function causeOf({ dueAt, readAt }: DueList): Cause {
  const plannedMillis = dueAt - (readAt ?? 0);
  if (plannedMillis === LIST_MILLIS) return "the time";
  return LIST_LAG_MILLIS.includes(plannedMillis) ? "a lag" : "a confirmation";
}

/**
 * Returns the wait after a reading. If the list brought something new, one more reading follows
 * soon: the list may lag behind other payments that were confirmed.
 */
export function waitAfter(list: DueList, isFruitful: boolean): number {
  const cause = causeOf(list);
  if (cause === "the time") return LIST_MILLIS;
  if (isFruitful) return LIST_LAG_MILLIS.at(-1) ?? LIST_MILLIS;
  const before = LIST_LAG_MILLIS.indexOf(list.dueAt - (list.readAt ?? 0));
  return LIST_LAG_MILLIS[before + 1] ?? LIST_MILLIS;
}

function dayOf(at: UnixMillis): number {
  return Math.floor(at / DAY_MILLIS);
}
