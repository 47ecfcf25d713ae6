import { type Change, changes } from "../change.js";
import { type HoldByAmount, HOLDS_BY_AMOUNT } from "../payment.js";
import { TRANSACTION_TYPES, type TransactionType } from "../transaction.js";
import { amountText, type Cents, NO_CENTS, parseAmount, TOO_SMALL } from "../values/cents.js";
import { type Parsed, parsed, parseOneOf, unparsed } from "../values/parsed.js";

/** What a limit bounds: one transaction, or the sum of a day or of a calendar month in Nairobi. */
export const LIMIT_PERIODS = ["TRANSACTION", "DAY", "MONTH"] as const;
export type LimitPeriod = (typeof LIMIT_PERIODS)[number];

/** What a redemption on a rail may have without a person: beyond it, the redemption is held. */
export type HeldPeriod = `HELD_${HoldByAmount}`;
export const HELD_PERIODS: readonly HeldPeriod[] = HOLDS_BY_AMOUNT.map((reason) => `HELD_${reason}` as const);

/** What an amount can be set for. */
export type SetPeriod = LimitPeriod | HeldPeriod;
export const SET_PERIODS: readonly SetPeriod[] = [...LIMIT_PERIODS, ...HELD_PERIODS];

/** Returns the periods for which an amount can be set: only a redemption can be held. */
export function periodsOf(type: TransactionType): readonly SetPeriod[] {
  return type === "REDEEM" ? SET_PERIODS : LIMIT_PERIODS;
}

/** The highest amounts for one type of transaction. A period without an amount has no limit. */
export type AmountLimits = Readonly<Partial<Record<SetPeriod, Cents>>>;

export type LimitSet = Readonly<Record<TransactionType, AmountLimits>>;

export const NO_LIMITS: LimitSet = { MINT: {}, REDEEM: {} };

/** The name of a group of accounts that have the same limits. */
export type TierName = string & { readonly brand: unique symbol };

/** The tier of every new account. */
export const DEFAULT_TIER = "default" as TierName;

/** The maximum number of tiers of one organization. */
export const TIERS_MAX = 20;

const TIER = /^[a-z][a-z0-9_-]{0,31}$/;

export function parseTierName(unchecked: string): Parsed<TierName> {
  return TIER.test(unchecked)
    ? parsed(unchecked as TierName)
    : unparsed("must be 1 to 32 lower-case letters, digits, - or _, and begin with a letter, such as basic");
}

/** The limits of an organization, and of its accounts by their tier. */
export interface Limits {
  readonly organization: LimitSet;
  readonly tiers: ReadonlyMap<TierName, LimitSet>;
}

export const NO_TIERS: Limits = { organization: NO_LIMITS, tiers: new Map() };

/** Returns the limits of an account. A tier without its own has those of the default tier. */
export function limitsOfTier({ tiers }: Limits, tier: TierName): LimitSet {
  return tiers.get(tier) ?? tiers.get(DEFAULT_TIER) ?? NO_LIMITS;
}

/** Parses the name of a tier that an account can move to: an unknown one is often a slip. */
export function parseKnownTier(unchecked: string, limits: Limits | undefined): Parsed<TierName> {
  return parseOneOf(unchecked, [...new Set([DEFAULT_TIER, ...(limits?.tiers.keys() ?? [])])]);
}

/** New amounts. NONE lifts a limit, and an absent period leaves it as it is. */
export type LimitChanges = Readonly<Record<TransactionType, Readonly<Partial<Record<SetPeriod, Cents | "NONE">>>>>;

/** Parses a new limit: an amount, which may be zero, or "none". */
export function parseNewLimit(unchecked: string): Parsed<Cents | "NONE"> {
  return unchecked === "none" ? parsed("NONE") : parseMaxAmount(unchecked);
}

/** Parses the highest amount of a limit, which may be zero. */
export function parseMaxAmount(unchecked: string): Parsed<Cents> {
  if (/^0(\.00?)?$/.test(unchecked)) return parsed(NO_CENTS);
  const amount = parseAmount(unchecked);
  return !amount.ok && amount.problem === TOO_SMALL ? unparsed("must be zero or more", amount.code) : amount;
}

export function changedLimits(limits: LimitSet, changes: LimitChanges): LimitSet {
  const changed = (type: TransactionType): AmountLimits => {
    const amounts: Partial<Record<SetPeriod, Cents>> = {};
    for (const period of periodsOf(type)) {
      const amountCents = changes[type][period] ?? limits[type][period];
      if (amountCents !== undefined && amountCents !== "NONE") amounts[period] = amountCents;
    }
    return amounts;
  };
  return { MINT: changed("MINT"), REDEEM: changed("REDEEM") };
}

/** Returns whether one of the limits is higher in `after`, or is not there any more. */
export function isLooser(before: LimitSet, after: LimitSet): boolean {
  const types = Object.keys(before) as TransactionType[];
  return types.some((type) =>
    SET_PERIODS.some((period) => (before[type][period] ?? Infinity) < (after[type][period] ?? Infinity)),
  );
}

/** Says which limits change, and those that were asked for although they stay. */
export function limitsChanged(
  of: string,
  before: LimitSet,
  after: LimitSet,
  asked: LimitChanges = NO_LIMITS,
): readonly Change[] {
  const text = (amountCents: Cents | undefined): string =>
    amountCents === undefined ? "no limit" : amountText(amountCents);
  const all = TRANSACTION_TYPES.flatMap((type) => periodsOf(type).map((period) => ({ type, period })));
  return changes(
    ...all
      .filter(({ type, period }) => asked[type][period] !== undefined || before[type][period] !== after[type][period])
      .map(({ type, period }) => {
        return [`${of}: ${limitWords(type, period)}`, text(before[type][period]), text(after[type][period])] as const;
      }),
  );
}

const LIMIT_WORDS: Readonly<Record<TransactionType, Readonly<Record<LimitPeriod, string>>>> = {
  MINT: { TRANSACTION: "one mint", DAY: "mints of a day", MONTH: "mints of a month" },
  REDEEM: { TRANSACTION: "one redemption", DAY: "redemptions of a day", MONTH: "redemptions of a month" },
};

const HELD_WORDS: Readonly<Record<HeldPeriod, string>> = {
  HELD_AMOUNT: "one payout without a release",
  HELD_DAY: "redemptions of a day without a release",
  HELD_NEW_DESTINATION: "first payout to a number without a release",
  HELD_CHANGED: "one payout after a changed number or e-mail address without a release",
};

function limitWords(type: TransactionType, period: SetPeriod): string {
  return { ...LIMIT_WORDS[type], ...HELD_WORDS }[period];
}

/** Returns the one text of the limits. Equal limits have equal texts. */
export function limitsText({ organization, tiers }: Limits): string {
  const names = [...tiers.keys()].sort();
  return JSON.stringify([organization, names.map((name) => [name, tiers.get(name)])]);
}

/** Reads a text of `limitsText`. */
export function limitsFromText(text: string): Limits {
  const [organization, tiers] = JSON.parse(text) as [LimitSet, [TierName, LimitSet][]];
  return { organization, tiers: new Map(tiers) };
}
