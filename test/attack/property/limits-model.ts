import type { Account } from "../../../src/domain/account.js";
import type { SetLimits } from "../../../src/domain/book/set-limits.js";
import type { LimitsInForce, Usage } from "../../../src/domain/limits/usage.js";
import type { HoldByAmount } from "../../../src/domain/payment.js";
import type { Refusal } from "../../../src/domain/refusal.js";
import type { AccountId, OrganizationId, TransactionId } from "../../../src/domain/values/ids.js";
import { toUnixMillis, type UnixMillis } from "../../../src/domain/values/time.js";
import type { ModelAccount, ModelTransaction } from "./rows.js";

// The rules of docs/limits.md in the plainest code: a list of what counts, and no sums that are
// kept.

/** Of mints in the day and the month, then of redemptions. */
export type SeenUsage = readonly [number, number, number, number];

/** The limits and the used sums of an organization, as they are at the time of its last row. */
export interface SeenLimits {
  readonly since: number;
  /** "default MINT DAY" and such, and what is allowed. */
  readonly amounts: Readonly<Record<string, number>>;
  readonly tiers: readonly string[];
  readonly used: SeenUsage;
  /** By the id of the account, where something was ever counted. */
  readonly usedByAccount: Readonly<Record<string, SeenUsage>>;
}

interface Accepted {
  readonly id: TransactionId;
  readonly organizationId: OrganizationId;
  readonly accountId: AccountId;
  readonly type: "MINT" | "REDEEM";
  readonly amount: number;
  readonly at: number;
}

type Movement = Pick<ModelTransaction, "id" | "organizationId" | "accountId" | "type" | "amountCents">;

interface OwnLimits {
  readonly since: number;
  readonly amounts: Map<string, number>;
  readonly tiers: Set<string>;
}

const TIERS_MAX = 20;
const HOUR = 3_600_000;
const ALL_CENTS = 9_007_199_254_740_991;
const NAMES = ["TRANSACTION", "DAY", "MONTH"] as const;
const TYPES = ["MINT", "REDEEM"] as const;

export class LimitsModel {
  readonly #limits = new Map<OrganizationId, OwnLimits>();
  /** Without those that were taken back. */
  #accepted: Accepted[] = [];
  readonly #counted = new Set<AccountId>();

  /** Returns what was refused, "same" if nothing changed, or the time of the row that sets it. */
  set(
    { organizationId, tier, changes }: SetLimits,
    { now, lastRecordedAt }: { readonly now: UnixMillis; readonly lastRecordedAt: UnixMillis },
  ): Refusal | "same" | UnixMillis {
    const before = this.#limits.get(organizationId);
    const amounts = new Map(before?.amounts);
    const tiers = new Set(before?.tiers);
    const whose = tier ?? "";
    if (changes === undefined) {
      tiers.delete(whose);
      for (const name of amounts.keys()) if (name.startsWith(`${whose} `)) amounts.delete(name);
    } else {
      if (tier !== undefined) tiers.add(tier);
      for (const type of TYPES) {
        for (const [name, amount] of Object.entries(changes[type])) {
          if (amount === "NONE") amounts.delete(`${whose} ${type} ${name}`);
          else amounts.set(`${whose} ${type} ${name}`, amount);
        }
      }
    }
    const text = (all: ReadonlyMap<string, number> | undefined, names: ReadonlySet<string> | undefined): string =>
      JSON.stringify([[...(all ?? [])].sort(), [...(names ?? [])].sort()]);
    if (text(amounts, tiers) === text(before?.amounts, before?.tiers)) return "same";
    if (tiers.size > TIERS_MAX) return { reason: "TOO_MANY_TIERS", limit: TIERS_MAX };
    const at = before === undefined && lastRecordedAt >= now ? toUnixMillis(lastRecordedAt + 1) : now;
    this.#limits.set(organizationId, { since: before?.since ?? at, amounts, tiers });
    return at;
  }

  refusal(account: ModelAccount, { type, amountCents }: Movement, now: UnixMillis): Refusal | undefined {
    const { organizationId, id } = account;
    const own = this.#limits.get(organizationId);
    if (own === undefined) return undefined;
    const tier = own.tiers.has(account.tier) ? account.tier : "default";
    for (const accountId of [id, undefined]) {
      for (const name of NAMES) {
        const limitCents = own.amounts.get(`${accountId === undefined ? "" : tier} ${type} ${name}`) ?? ALL_CENTS;
        const isOne = name === "TRANSACTION";
        const used = isOne ? 0 : this.#sum(organizationId, accountId, { type, from: beginOf(name, now) });
        if (used + amountCents <= limitCents) continue;
        const period = isOne ? undefined : { usedCents: used, resetsAt: toUnixMillis(endOf(name, now)) };
        const remainingCents = Math.max(0, limitCents - used);
        const reached = { period: name, usedCents: period?.usedCents, remainingCents, resetsAt: period?.resetsAt };
        return { reason: "LIMIT_EXCEEDED", accountId, limitCents, reached };
      }
    }
    return undefined;
  }

  /** Why the redemption waits for a person. */
  holds(
    account: ModelAccount,
    { amountCents }: Movement,
    { isFirst, isChanged }: { readonly isFirst: boolean; readonly isChanged: boolean },
    now: UnixMillis,
  ): readonly HoldByAmount[] {
    const { organizationId, id } = account;
    const own = this.#limits.get(organizationId);
    if (own === undefined) return [];
    const tier = own.tiers.has(account.tier) ? account.tier : "default";
    const isAbove = (reason: HoldByAmount, accountId: AccountId | undefined): boolean => {
      const amount = own.amounts.get(`${accountId === undefined ? "" : tier} REDEEM HELD_${reason}`) ?? ALL_CENTS;
      const used =
        reason === "DAY" ? this.#sum(organizationId, accountId, { type: "REDEEM", from: beginOf("DAY", now) }) : 0;
      const isMet = { AMOUNT: true, DAY: true, NEW_DESTINATION: isFirst, CHANGED: isChanged }[reason];
      return isMet && used + amountCents > amount;
    };
    return (["AMOUNT", "DAY", "NEW_DESTINATION", "CHANGED"] as const).filter(
      (reason) => isAbove(reason, id) || isAbove(reason, undefined),
    );
  }

  accept({ id, organizationId, accountId, type, amountCents }: Movement, at: UnixMillis): void {
    if (!this.#limits.has(organizationId)) return;
    this.#counted.add(accountId);
    this.#accepted.push({ id, organizationId, accountId, type, amount: amountCents, at });
  }

  takeBack(id: TransactionId): void {
    this.#accepted = this.#accepted.filter((each) => each.id !== id);
  }

  state(organizationId: OrganizationId, accounts: readonly ModelAccount[], now: UnixMillis): SeenLimits | undefined {
    const own = this.#limits.get(organizationId);
    if (own === undefined) return undefined;
    const counted = accounts.filter(({ id }) => this.#counted.has(id));
    return {
      since: own.since,
      amounts: Object.fromEntries([...own.amounts].sort()),
      tiers: [...own.tiers].sort(),
      used: this.#usage(organizationId, undefined, now),
      usedByAccount: Object.fromEntries(counted.map(({ id }) => [id, this.#usage(organizationId, id, now)])),
    };
  }

  #usage(organizationId: OrganizationId, accountId: AccountId | undefined, now: UnixMillis): SeenUsage {
    const sum = (type: "MINT" | "REDEEM", name: "DAY" | "MONTH"): number =>
      this.#sum(organizationId, accountId, { type, from: beginOf(name, now) });
    return [sum("MINT", "DAY"), sum("MINT", "MONTH"), sum("REDEEM", "DAY"), sum("REDEEM", "MONTH")];
  }

  #sum(
    organizationId: OrganizationId,
    accountId: AccountId | undefined,
    { type, from }: { readonly type: "MINT" | "REDEEM"; readonly from: number },
  ): number {
    return this.#accepted
      .filter((each) => each.organizationId === organizationId && each.type === type && each.at >= from)
      .filter((each) => accountId === undefined || each.accountId === accountId)
      .reduce((sum, { amount }) => sum + amount, 0);
  }
}

/** The local time in Nairobi, as fields of UTC. */
function local(at: number): Date {
  return new Date(at + 3 * HOUR);
}

function beginOf(name: "DAY" | "MONTH", at: number): number {
  const date = local(at);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), name === "DAY" ? date.getUTCDate() : 1) - 3 * HOUR;
}

function endOf(name: "DAY" | "MONTH", at: number): number {
  const date = local(at);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
  return (name === "DAY" ? Date.UTC(year, month, date.getUTCDate() + 1) : Date.UTC(year, month + 1, 1)) - 3 * HOUR;
}

/** What the service keeps, in the words of the model. */
export function seenLimits(
  limits: LimitsInForce | undefined,
  accounts: readonly Pick<Account, "id" | "usage">[],
  now: UnixMillis,
): SeenLimits | undefined {
  if (limits === undefined) return undefined;
  const amounts: [string, number][] = [];
  const sets = [["", limits.organization], ...limits.tiers] as const;
  for (const [whose, set] of sets) {
    for (const type of TYPES) {
      for (const [name, amount] of Object.entries(set[type])) amounts.push([`${whose} ${type} ${name}`, amount]);
    }
  }
  const counted = accounts.filter(({ usage }) => usage !== undefined);
  return {
    since: limits.since,
    amounts: Object.fromEntries(amounts.sort()),
    tiers: [...limits.tiers.keys()].sort(),
    used: seenUsage(limits.usage, now),
    usedByAccount: Object.fromEntries(counted.map(({ id, usage }) => [id, seenUsage(usage, now)])),
  };
}

/** Sums of an earlier day or month are over. */
function seenUsage(usage: Usage | undefined, now: UnixMillis): SeenUsage {
  const day = usage?.day.from === beginOf("DAY", now) ? usage.day : { MINT: 0, REDEEM: 0 };
  const month = usage?.month.from === beginOf("MONTH", now) ? usage.month : { MINT: 0, REDEEM: 0 };
  return [day.MINT, month.MINT, day.REDEEM, month.REDEEM];
}
