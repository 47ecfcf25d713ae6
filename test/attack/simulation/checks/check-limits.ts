import type { BookHead } from "../../../../src/domain/book.js";
import type { JournalEntry } from "../../../../src/domain/journal.js";
import type { Transaction } from "../../../../src/domain/transaction.js";
import type { Books, Stored } from "../disks/disk.js";
import { mustBe, mustHold } from "../report/violation.js";

// Checks docs/limits.md, from the journal alone: nothing was accepted beyond a limit that stood.
// The sums are those of what was accepted. Written again on purpose: see check-books.ts.

interface OwnBook extends Pick<Books, "accounts" | "transactions" | "journal"> {
  readonly head: BookHead;
}

type Amounts = Readonly<Record<string, Readonly<Record<string, number>>>>;

const OFFSET = 10_800_000;
const DAY = 86_400_000;

export function checkLimits({ head, accounts, transactions, journal }: OwnBook): void {
  const book = new Follower(new Map(transactions.map((each) => [each.id, each])));
  for (const entry of journal) book.row(entry);
  const { organizationId, limits } = head;
  mustBe(`when ${organizationId} got limits, by the journal`, book.since, limits?.since);
  mustBe(`what ${organizationId} has used`, book.usage(undefined), usageOf(limits?.usage));
  for (const { id, usage } of accounts) mustBe(`what ${id} has used`, book.usage(id), usageOf(usage));
}

class Follower {
  since: number | undefined;
  readonly #transactions: ReadonlyMap<string, Transaction>;
  readonly #tiers = new Map<string, string>();
  #organization: Amounts = {};
  #ofTiers = new Map<string, Amounts>();
  /** Why the redemption of the row before must be held. */
  #heldFor: string[] = [];
  /** By account, and in "" of all: what counts, and when something last changed that. */
  readonly #counted = new Map<string, Set<Transaction>>();
  readonly #changedAt = new Map<string, number>();

  constructor(transactions: ReadonlyMap<string, Transaction>) {
    this.#transactions = transactions;
  }

  row({ seq, kind, accountId, transactionId, detail = "", recordedAt }: Stored<JournalEntry>): void {
    const missing =
      kind === "transaction.held" ? this.#heldFor.filter((reason) => !detail.includes(reason)) : this.#heldFor;
    mustBe(`for what else row ${String(seq)} should hold the redemption before it`, [], missing);
    this.#heldFor = [];
    if (kind === "limits.set") {
      const [, content] = JSON.parse(detail) as [string, string];
      const [organization, tiers] = JSON.parse(content) as [Amounts, [string, Amounts][]];
      this.#organization = organization;
      this.#ofTiers = new Map(tiers);
      this.since ??= recordedAt;
    }
    if (kind === "account.tiered" && accountId !== undefined) this.#tiers.set(accountId, detail);
    const transaction = transactionId === undefined ? undefined : this.#transactions.get(transactionId);
    if (transaction === undefined || this.since === undefined) return;
    const { corrects } = transaction;
    const isFirst = "seq" in transaction && transaction.seq === seq;
    if (isFirst && corrects === undefined) this.#accept(transaction, recordedAt);
    if (isFirst && corrects?.kind === "REVERSAL") this.#takeBack(corrects.transactionId, recordedAt);
    if (kind === "transaction.failed" || kind === "transaction.canceled") this.#takeBack(transaction.id, recordedAt);
  }

  usage(accountId: string | undefined): unknown {
    const at = this.#changedAt.get(accountId ?? "");
    if (at === undefined) return undefined;
    const sums = (from: number) => ({
      from,
      minted: this.#sum(accountId, "MINT", from),
      redeemed: this.#sum(accountId, "REDEEM", from),
    });
    return { day: sums(dayOf(at)), month: sums(monthOf(at)) };
  }

  #accept(transaction: Transaction, at: number): void {
    const { id, accountId, type, amountCents, reference, rail } = transaction;
    const tier = this.#tiers.get(accountId) ?? "default";
    const ofAccount = this.#ofTiers.get(tier) ?? this.#ofTiers.get("default") ?? {};
    for (const [whose, limits] of [
      [accountId, ofAccount],
      [undefined, this.#organization],
    ] as const) {
      this.#change(whose, at, (counted) => counted.add(transaction));
      const used: Readonly<Record<string, number>> = {
        TRANSACTION: amountCents,
        DAY: this.#sum(whose, type, dayOf(at)),
        MONTH: this.#sum(whose, type, monthOf(at)),
        HELD_AMOUNT: amountCents,
        HELD_DAY: this.#sum(whose, type, dayOf(at)),
        // What was paid or changed before is not followed here.
        HELD_NEW_DESTINATION: 0,
        HELD_CHANGED: 0,
      };
      for (const [name, most] of Object.entries(limits[type] ?? {})) {
        // An operator assigns a deposit beyond the limits: the shillings have arrived.
        if (reference.startsWith("kesc:deposit:")) continue;
        const found = used[name] ?? Number.NaN;
        if (name.startsWith("HELD_")) {
          if (found > most && rail !== "direct" && transaction.depositId === undefined)
            this.#heldFor.push(name.slice("HELD_".length));
          continue;
        }
        mustHold(found <= most, () => ({
          what: `what ${whose ?? "the organization"} has used of ${type} ${name} with ${id}`,
          expected: `at most ${String(most)}`,
          found,
        }));
      }
    }
  }

  #takeBack(id: string, at: number): void {
    const transaction = this.#transactions.get(id);
    if (transaction === undefined || transaction.createdAt < (this.since ?? 0)) return;
    for (const whose of [transaction.accountId, undefined]) {
      this.#change(whose, at, (counted) => counted.delete(transaction));
    }
  }

  #change(whose: string | undefined, at: number, change: (counted: Set<Transaction>) => void): void {
    const counted = this.#counted.get(whose ?? "") ?? new Set();
    this.#counted.set(whose ?? "", counted);
    this.#changedAt.set(whose ?? "", at);
    change(counted);
  }

  #sum(whose: string | undefined, type: Transaction["type"], from: number): number {
    let sum = 0;
    for (const each of this.#counted.get(whose ?? "") ?? []) {
      if (each.type === type && each.createdAt >= from) sum += each.amountCents;
    }
    return sum;
  }
}

function usageOf(usage: NonNullable<BookHead["limits"]>["usage"]): unknown {
  if (usage === undefined) return undefined;
  const sums = ({ from, MINT: minted, REDEEM: redeemed }: (typeof usage)["day"]) => ({ from, minted, redeemed });
  return { day: sums(usage.day), month: sums(usage.month) };
}

function dayOf(at: number): number {
  return Math.floor((at + OFFSET) / DAY) * DAY - OFFSET;
}

function monthOf(at: number): number {
  const local = new Date(at + OFFSET);
  return Date.UTC(local.getUTCFullYear(), local.getUTCMonth()) - OFFSET;
}
