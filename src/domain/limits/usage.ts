import { type HoldByAmount, HOLDS_BY_AMOUNT } from "../payment.js";
import type { Transaction } from "../transaction.js";
import { endOfDay, endOfMonth, nairobiDayOf, startOfDay, startOfMonth } from "../values/nairobi-day.js";
import type { UnixMillis } from "../values/time.js";
import { LIMIT_PERIODS, type LimitPeriod, type Limits, type LimitSet, periodsOf, type SetPeriod } from "./limits.js";

/** The sums of a period that begins at `from`. */
export interface PeriodSums {
  readonly from: UnixMillis;
  readonly MINT: number;
  readonly REDEEM: number;
}

/**
 * What counts against the limits of an account or of an organization: the accepted transactions of
 * a day in Nairobi, and of the calendar month in which that day lies.
 */
export interface Usage {
  readonly day: PeriodSums;
  readonly month: PeriodSums;
}

/** The limits of an organization, and what counts against its own. */
export interface LimitsInForce extends Limits {
  /**
   * The time of the row that set the first limits. Transactions that were accepted then or later
   * count. The row before is earlier, so the time alone tells which transactions count.
   */
  readonly since: UnixMillis;
  /** Undefined until the first transaction counts. */
  readonly usage: Usage | undefined;
}

/** A limit that a transaction would exceed. */
export interface ReachedLimit {
  readonly period: LimitPeriod;
  readonly limitCents: number;
  /** What counts already. Undefined for a limit of one transaction. */
  readonly usedCents: number | undefined;
  readonly remainingCents: number;
  /** When the sums begin again. Undefined for a limit of one transaction. */
  readonly resetsAt: UnixMillis | undefined;
}

// A JavaScript number holds every sum up to this one exactly.
const SUM_CENTS_MAX = Number.MAX_SAFE_INTEGER;

type CountedMovement = Pick<Transaction, "type" | "amountCents">;

/**
 * Returns the usage in the day and the month of `now`. Sums of earlier ones do not count there. If
 * the clock is behind the book, the day is that of the book, whose times never decrease.
 */
export function usageAt(usage: Usage | undefined, now: UnixMillis): Usage {
  const day = nairobiDayOf(now);
  const from = startOfDay(day);
  if (usage !== undefined && usage.day.from >= from) return usage;
  const monthFrom = startOfMonth(day);
  const month = usage?.month.from === monthFrom ? usage.month : nothingFrom(monthFrom);
  return { day: nothingFrom(from), month };
}

function nothingFrom(from: UnixMillis): PeriodSums {
  return { from, MINT: 0, REDEEM: 0 };
}

/** Counts an accepted transaction. `usage` is that of the time at which it was accepted. */
export function counted({ day, month }: Usage, { type, amountCents }: CountedMovement): Usage {
  return {
    day: { ...day, [type]: day[type] + amountCents },
    month: { ...month, [type]: month[type] + amountCents },
  };
}

/**
 * Takes back a transaction that counted. Its amount leaves the sums of the day and of the month in
 * which it was accepted, if `usage` is still about these.
 */
export function givenBack(
  { day, month }: Usage,
  { type, amountCents, createdAt }: CountedMovement & Pick<Transaction, "createdAt">,
): Usage {
  const without = (sums: PeriodSums): PeriodSums =>
    createdAt < sums.from ? sums : { ...sums, [type]: sums[type] - amountCents };
  return { day: without(day), month: without(month) };
}

/** Returns the first limit that the transaction would exceed. */
export function reachedLimit(
  limits: LimitSet,
  usage: Usage,
  { type, amountCents }: CountedMovement,
): ReachedLimit | undefined {
  for (const period of LIMIT_PERIODS) {
    const usedCents = usedOf(usage, period, type);
    const limitCents = limits[type][period] ?? SUM_CENTS_MAX;
    if ((usedCents ?? 0) + amountCents > limitCents) {
      return {
        period,
        limitCents,
        usedCents,
        remainingCents: remainingCents(limitCents, usedCents),
        resetsAt: resetOf(usage, period),
      };
    }
  }
  return undefined;
}

/** A redemption on a rail, as far as it may have to wait for a person. */
export interface HeldMovement {
  readonly amountCents: number;
  /** Whether no rail has paid to the destination or phone number yet. */
  readonly isFirst: boolean;
  /** Whether the phone number or e-mail address of the account was changed a short time ago. */
  readonly isChanged: boolean;
}

/**
 * Returns why a redemption must wait for a person. A sum includes what waits already: otherwise
 * many small payouts would do what one large one may not.
 */
export function holdReasons(
  { REDEEM: limits }: LimitSet,
  usage: Usage,
  { amountCents, isFirst, isChanged }: HeldMovement,
): readonly HoldByAmount[] {
  const found: Readonly<Record<HoldByAmount, number>> = {
    AMOUNT: amountCents,
    DAY: usage.day.REDEEM + amountCents,
    NEW_DESTINATION: isFirst ? amountCents : 0,
    CHANGED: isChanged ? amountCents : 0,
  };
  return HOLDS_BY_AMOUNT.filter((reason) => found[reason] > (limits[`HELD_${reason}`] ?? SUM_CENTS_MAX));
}

/** A limit that is set, and what counts against it. */
export interface LimitState extends Omit<ReachedLimit, "period"> {
  readonly type: Transaction["type"];
  readonly period: SetPeriod;
}

/** Returns the limits that are set, first those of mints. */
export function limitStates(limits: LimitSet, usage: Usage): readonly LimitState[] {
  return (["MINT", "REDEEM"] as const).flatMap((type) =>
    periodsOf(type).flatMap((period) => {
      const limitCents = limits[type][period];
      if (limitCents === undefined) return [];
      const usedCents = usedOf(usage, period, type);
      const left = remainingCents(limitCents, usedCents);
      return [{ type, period, limitCents, usedCents, remainingCents: left, resetsAt: resetOf(usage, period) }];
    }),
  );
}

/** Returns what is left of a limit. Nothing is, if it was lowered below what is used. */
function remainingCents(limitCents: number, usedCents = 0): number {
  return Math.max(0, limitCents - usedCents);
}

function usedOf({ day, month }: Usage, period: SetPeriod, type: Transaction["type"]): number | undefined {
  switch (period) {
    case "TRANSACTION":
    case "HELD_AMOUNT":
    case "HELD_NEW_DESTINATION":
    case "HELD_CHANGED":
      return undefined;
    case "DAY":
    case "HELD_DAY":
      return day[type];
    case "MONTH":
      return month[type];
  }
}

/** Returns the first moment after the day or the month of the usage. */
function resetOf({ day }: Usage, period: SetPeriod): UnixMillis | undefined {
  switch (period) {
    case "TRANSACTION":
    case "HELD_AMOUNT":
    case "HELD_NEW_DESTINATION":
    case "HELD_CHANGED":
      return undefined;
    case "DAY":
    case "HELD_DAY":
      return endOfDay(nairobiDayOf(day.from));
    case "MONTH":
      return endOfMonth(nairobiDayOf(day.from));
  }
}
