import type { BookSums } from "./book.js";
import type { RailReceipt } from "./payment.js";
import { sourceAndNumber } from "./receipt.js";
import { sourceOfPlace, type StatementForm } from "./statement-form.js";
import type { Cents } from "./values/cents.js";
import type { OrganizationId } from "./values/ids.js";
import { endOfDay, type NairobiDay } from "./values/nairobi-day.js";
import type { UnixMillis } from "./values/time.js";

/** What a part of the reserve is. `bank_kenya` is an account at a bank in Kenya. */
export const RESERVE_KINDS = ["bank_kenya", "treasury_bill", "repo", "central_bank", "cash", "other"] as const;
export type ReserveKind = (typeof RESERVE_KINDS)[number];

/** The kind of a place that has no figure yet: books are of shillings, at banks in Kenya. */
export const KIND_OF_NEW_PLACE: ReserveKind = "bank_kenya";

/** What was recorded about a part of the reserve. */
export interface ReserveFigure {
  readonly place: string;
  readonly amountCents: Cents;
  /** The figure holds for the end of this day. */
  readonly asOfDay: NairobiDay;
  /** What shows it, such as the number of a bank statement. */
  readonly evidence: string;
  readonly kind: ReserveKind;
  /** In hexadecimal: that of the document which shows the figure. */
  readonly documentSha256: string | undefined;
  /** When a bill or a repo is paid back. */
  readonly maturesOn: NairobiDay | undefined;
}

/** Returns the detail of the row that records a figure. */
export function detailOfFigure({ place, amountCents, asOfDay, evidence, ...terms }: ReserveFigure): string {
  const { kind, documentSha256, maturesOn } = terms;
  return JSON.stringify([place, amountCents, asOfDay, evidence, kind, documentSha256 ?? null, maturesOn ?? null]);
}

/** Reads the detail that `detailOfFigure` made. */
export function readFigure(detail: string): ReserveFigure {
  const [place, amountCents, asOfDay, evidence, kind, documentSha256, maturesOn] = JSON.parse(detail) as readonly [
    ...(readonly [string, Cents, NairobiDay, string, ReserveKind]),
    string | null,
    NairobiDay | null,
  ];
  const terms = { kind, documentSha256: documentSha256 ?? undefined, maturesOn: maturesOn ?? undefined };
  return { place, amountCents, asOfDay, evidence, ...terms };
}

/** The last figure of one place. */
export interface ReservePlace extends ReserveFigure {
  readonly organizationId: OrganizationId;
  /** How its statements are read. Undefined until a person has said it. */
  readonly statementForm: StatementForm | undefined;
  readonly recordedAt: UnixMillis;
  /** The number of the row that recorded it. */
  readonly seq: number;
}

/** The maximum number of places of one organization. */
export const RESERVE_PLACES_MAX = 50;

/** A rule about the parts of one kind. A bound that is absent does not bind. */
export interface ReserveRule {
  readonly kind: ReserveKind;
  /** In percent of the reserve that the book has. */
  readonly shareMin?: number | undefined;
  readonly shareMax?: number | undefined;
  /** The longest time from now until a part matures. */
  readonly daysMax?: number | undefined;
  /** A figure older than this is unknown. */
  readonly staleAfterDays: number;
}

export const RESERVE_RULES_MAX = 10;
export const SHARE_MAX_PERCENT = 100;
/** The longest time of a rule. */
export const RULE_DAYS_MAX = 3_660;

/** Whether a rule holds. UNKNOWN: a figure that it needs is missing or old. */
export const RULE_STATES = ["HOLDS", "BROKEN", "UNKNOWN"] as const;
export type RuleState = (typeof RULE_STATES)[number];

/** How a rule stands, with the figures that say so. */
export interface JudgedRule {
  readonly rule: ReserveRule;
  readonly state: RuleState;
  /** The sum of the figures of the kind. */
  readonly amountCents: number;
  /** The day of the oldest of them. Undefined if there is none. */
  readonly asOfDay: NairobiDay | undefined;
}

/** Returns the rules as a book stores them. */
export function rulesText(rules: readonly ReserveRule[]): string {
  return JSON.stringify(
    rules.map(({ kind, shareMin, shareMax, daysMax, staleAfterDays }) => ({
      kind,
      share_min: shareMin,
      share_max: shareMax,
      days_max: daysMax,
      stale_after_days: staleAfterDays,
    })),
  );
}

/** Reads what `rulesText` wrote. */
export function rulesFromText(text: string): readonly ReserveRule[] {
  const rules = JSON.parse(text) as readonly {
    readonly kind: ReserveKind;
    readonly share_min?: number;
    readonly share_max?: number;
    readonly days_max?: number;
    readonly stale_after_days: number;
  }[];
  return rules.map(({ kind, share_min, share_max, days_max, stale_after_days }) => ({
    kind,
    shareMin: share_min,
    shareMax: share_max,
    daysMax: days_max,
    staleAfterDays: stale_after_days,
  }));
}

/** What was seen of a reserve, in cents. */
export interface SeenReserve {
  readonly seenCents: bigint;
  /** What was seen less what is owed: below zero if shillings are missing. */
  readonly differenceCents: bigint;
}

/** What rails reported, in any currency, and what people recorded. */
export interface SeenFigures {
  readonly balances: readonly { readonly currency: string; readonly availableCents: number }[];
  readonly places: readonly Pick<ReserveFigure, "amountCents">[];
}

/**
 * Returns what an organization owes: KESC to its users, and the shillings that came in and belong
 * to no account yet, also while the rail returns them.
 */
export function owedCents({
  available,
  held,
  unallocated,
}: Omit<BookSums, "reserve" | "shortfall" | "charges">): bigint {
  return BigInt(available) + BigInt(held) + BigInt(unallocated);
}

/** Compares what was seen with what is owed. Undefined if nobody has seen anything. */
export function seenReserve(owed: bigint, { balances, places }: SeenFigures): SeenReserve | undefined {
  const figures = [
    ...balances.flatMap(({ currency, availableCents }) => (currency === "KES" ? [availableCents] : [])),
    ...places.map(({ amountCents }) => amountCents),
  ];
  if (figures.length === 0) return undefined;
  const seenCents = figures.reduce((sum, cents) => sum + BigInt(cents), 0n);
  return { seenCents, differenceCents: seenCents - owed };
}

/** Says a rule as people read it. */
export function ruleText({ shareMin, shareMax, daysMax, staleAfterDays }: ReserveRule): string {
  return [
    shareMin === undefined ? [] : [`at least ${String(shareMin)} % of the reserve`],
    shareMax === undefined ? [] : [`at most ${String(shareMax)} % of the reserve`],
    daysMax === undefined ? [] : [`matures within ${String(daysMax)} days`],
    [`figures of the last ${String(staleAfterDays)} days`],
  ]
    .flat()
    .join(", ");
}

interface KnownReserve {
  readonly figures: readonly ReserveFigure[];
  /** The reserve that the book has: what must lie somewhere. */
  readonly reserveCents: number;
  readonly today: NairobiDay;
}

/**
 * Says whether a rule holds. What is not known for sure is UNKNOWN, also where the other figures
 * would break the rule: an old figure proves nothing, neither way.
 */
export function judgeRule(rule: ReserveRule, { figures, reserveCents, today }: KnownReserve): JudgedRule {
  const own = figures.filter(({ kind }) => kind === rule.kind);
  const amountCents = own.reduce((sum, figure) => sum + figure.amountCents, 0);
  const [asOfDay] = own.map((figure) => figure.asOfDay).sort();
  const judged = { rule, amountCents, asOfDay };
  const { shareMin, shareMax, daysMax, staleAfterDays } = rule;
  const hasShare = shareMin !== undefined || shareMax !== undefined;
  const isStale = asOfDay === undefined || daysBetween(asOfDay, today) > staleAfterDays;
  const lacksMaturity = daysMax !== undefined && own.some(({ maturesOn }) => maturesOn === undefined);
  // Nothing has a share of a reserve that is empty or negative.
  if (isStale || lacksMaturity || (hasShare && reserveCents <= 0)) return { ...judged, state: "UNKNOWN" };
  // The product of a large reserve is no longer exact as a number.
  const hundredfold = BigInt(amountCents) * BigInt(SHARE_MAX_PERCENT);
  const isBroken =
    (shareMin !== undefined && hundredfold < BigInt(shareMin) * BigInt(reserveCents)) ||
    (shareMax !== undefined && hundredfold > BigInt(shareMax) * BigInt(reserveCents)) ||
    own.some(({ maturesOn = today }) => daysMax !== undefined && daysBetween(today, maturesOn) > daysMax);
  return { ...judged, state: isBroken ? "BROKEN" : "HOLDS" };
}

const DAY_MILLIS = 86_400_000;

/** Kenya has no summer time, so each day is as long as the others. */
function daysBetween(from: NairobiDay, to: NairobiDay): number {
  return (endOfDay(to) - endOfDay(from)) / DAY_MILLIS;
}

/** Whether a receipt has the source of one of the places. */
export function isOfPlace(places: readonly ReservePlace[], receipt: RailReceipt): boolean {
  const { source } = sourceAndNumber(receipt);
  return places.some(({ place, statementForm }) => sourceOfPlace(place, statementForm) === source);
}
