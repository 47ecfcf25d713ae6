import { jsonIn } from "../../guarded.js";
import type { AuditedTransactionRow } from "../transactions/transaction-check.js";

// Repeated on purpose: an audit must not depend on the code that it audits.
const DEFAULT_TIER = "default";
const DAY_MILLIS = 86_400_000;
const OFFSET_MILLIS = 10_800_000;

/** The highest amounts in cents, by the type of a transaction and the period. */
type AuditedLimits = Readonly<Record<string, Readonly<Record<string, number | undefined>> | undefined>>;

/** What has counted for sure in a day and in a month of Nairobi. */
interface Used {
  readonly day: number;
  readonly month: number;
  dayCents: number;
  monthCents: number;
}

interface ExceededLimit {
  readonly limitCents: number;
  /** The sum with the transaction. */
  readonly foundCents: number;
}

/**
 * Follows the limits of one book, and compares each transaction with those at its moment.
 *
 * A transaction that failed, was canceled or reversed later has counted for some time only. It is
 * left out here, so the sums may be too low, and never too high: a right book has no finding.
 */
export class LimitsCheck {
  /** Of the organization, and by the tier. */
  #organization: AuditedLimits = {};
  #tiers: ReadonlyMap<string, AuditedLimits> = new Map();
  #since: number | undefined;
  /** Of the accounts that have left the default tier. Undefined with too many: none is checked. */
  #tierOf: Map<string, string> | undefined = new Map();
  /** By the account and the type. With too many, the sums begin again, and are too low. */
  readonly #used = new Map<string, Used>();
  readonly #accountsMax: number;

  /** Keeps at most so many accounts in memory. */
  constructor(accountsMax: number) {
    this.#accountsMax = accountsMax;
  }

  /** Takes the detail of a row `limits.set`: a person and the text of all limits. */
  set(detail: unknown, recordedAt: number): void {
    const [, text] = detail as readonly unknown[];
    const [organization, tiers] = jsonIn("detail", String(text), "[]") as [AuditedLimits, [string, AuditedLimits][]];
    this.#organization = organization;
    this.#tiers = new Map(tiers);
    this.#since ??= recordedAt;
  }

  setTier(accountId: string, tier: string): void {
    if (tier === DEFAULT_TIER) this.#tierOf?.delete(accountId);
    else this.#tierOf?.set(accountId, tier);
    if ((this.#tierOf?.size ?? 0) > this.#accountsMax) this.#tierOf = undefined;
  }

  /** Takes each new transaction. Returns the limit that it exceeds, if the rules limit it. */
  take(transaction: AuditedTransactionRow, isLimited: boolean): ExceededLimit | undefined {
    const { account_id: accountId, type, status, reversed_by_id: reversal } = transaction;
    if (this.#since === undefined || transaction.correction !== null) return undefined;
    const tier = this.#tierOf?.get(accountId) ?? DEFAULT_TIER;
    const ofTier = this.#tierOf && (this.#tiers.get(tier) ?? this.#tiers.get(DEFAULT_TIER));
    const lasts = status !== "FAILED" && status !== "CANCELED" && reversal === null;
    const found = [
      this.#exceeded(ofTier?.[type], `${accountId} ${type}`, { transaction, lasts }),
      this.#exceeded(this.#organization[type], type, { transaction, lasts }),
    ];
    return isLimited ? found.find((each) => each !== undefined) : undefined;
  }

  #exceeded(
    limits: AuditedLimits[string] = {},
    key: string,
    { transaction, lasts }: { readonly transaction: AuditedTransactionRow; readonly lasts: boolean },
  ): ExceededLimit | undefined {
    const { amount_cents: amount, created_at: at } = transaction;
    const before = this.#usedAt(key, at);
    const [day, month] = [before.dayCents + amount, before.monthCents + amount];
    if (lasts) {
      if (this.#used.size >= this.#accountsMax) this.#used.clear();
      this.#used.set(key, { ...before, dayCents: day, monthCents: month });
    }
    const { TRANSACTION: ofOne, DAY: ofDay, MONTH: ofMonth } = limits;
    for (const [limitCents, foundCents] of [
      [ofOne, amount],
      [ofDay, day],
      [ofMonth, month],
    ] as const) {
      if (limitCents !== undefined && foundCents > limitCents) return { limitCents, foundCents };
    }
    return undefined;
  }

  #usedAt(key: string, at: number): Used {
    const local = new Date(at + OFFSET_MILLIS);
    const [day, month] = [Math.floor(local.getTime() / DAY_MILLIS), local.getUTCFullYear() * 12 + local.getUTCMonth()];
    const before = this.#used.get(key);
    const dayCents = before?.day === day ? before.dayCents : 0;
    const monthCents = before?.month === month ? before.monthCents : 0;
    return { day, month, dayCents, monthCents };
  }
}
