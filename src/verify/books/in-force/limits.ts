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

/** What the limits say of a transaction. */
interface JudgedByLimits {
  /** Undefined if the transaction is within its limits, or if the rules do not limit it. */
  readonly exceeded: ExceededLimit | undefined;
  /** Why a redemption on a rail must wait for a person. */
  readonly heldFor: readonly string[];
}

interface ExceededLimit {
  readonly limitCents: number;
  /** The sum with the transaction. */
  readonly foundCents: number;
}

const NOTHING: JudgedByLimits = { exceeded: undefined, heldFor: [] };

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

  /** Takes each new transaction. */
  take(transaction: AuditedTransactionRow, isLimited: boolean): JudgedByLimits {
    const { account_id: accountId, type, status, reversed_by_id: reversal } = transaction;
    if (this.#since === undefined || transaction.correction !== null) return NOTHING;
    const tier = this.#tierOf?.get(accountId) ?? DEFAULT_TIER;
    const ofTier = this.#tierOf && (this.#tiers.get(tier) ?? this.#tiers.get(DEFAULT_TIER));
    const lasts = status !== "FAILED" && status !== "CANCELED" && reversal === null;
    const found = [
      this.#judge(ofTier?.[type], `${accountId} ${type}`, { transaction, lasts }),
      this.#judge(this.#organization[type], type, { transaction, lasts }),
    ];
    const exceeded = found.map((each) => each.exceeded).find((each) => each !== undefined);
    return { exceeded: isLimited ? exceeded : undefined, heldFor: found.flatMap(({ heldFor }) => heldFor) };
  }

  #judge(
    limits: AuditedLimits[string] = {},
    key: string,
    { transaction, lasts }: { readonly transaction: AuditedTransactionRow; readonly lasts: boolean },
  ): JudgedByLimits {
    const { amount_cents: amount, created_at: at } = transaction;
    const before = this.#usedAt(key, at);
    const [day, month] = [before.dayCents + amount, before.monthCents + amount];
    if (lasts) {
      if (this.#used.size >= this.#accountsMax) this.#used.clear();
      this.#used.set(key, { ...before, dayCents: day, monthCents: month });
    }
    const above = (period: string, foundCents: number): readonly ExceededLimit[] => {
      const limitCents = limits[period];
      return limitCents !== undefined && foundCents > limitCents ? [{ limitCents, foundCents }] : [];
    };
    const [exceeded] = [...above("TRANSACTION", amount), ...above("DAY", day), ...above("MONTH", month)];
    const heldFor = [...above("HELD_AMOUNT", amount).map(() => "AMOUNT"), ...above("HELD_DAY", day).map(() => "DAY")];
    return { exceeded, heldFor };
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
