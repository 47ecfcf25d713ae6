import type { NewIds } from "../../../../src/domain/authority.js";
import type { Freeze } from "../../../../src/domain/freeze.js";
import { HELD_PERIODS, LIMIT_PERIODS } from "../../../../src/domain/limits/limits.js";
import type { MoveMoney } from "../../../../src/domain/money/move-money.js";
import type { Command, Resource } from "../../../../src/domain/operations.js";
import { DIRECT_RAIL, type Transaction } from "../../../../src/domain/transaction.js";
import { type Cents, MAX_CENTS } from "../../../../src/domain/values/cents.js";
import { type EmailAddress, NO_EMAIL } from "../../../../src/domain/values/email-address.js";
import type {
  AccountId,
  DepositId,
  FreezeId,
  OrganizationId,
  TransactionId,
} from "../../../../src/domain/values/ids.js";
import type { PhoneNumber } from "../../../../src/domain/values/phone-number.js";
import { type IdempotencyKey, type Reference } from "../../../../src/domain/values/text.js";
import { isProposal, plain } from "../../../support/acted.js";
import { depositReference, RAIL_TERMS, SLOW_RAIL } from "../../../support/names.js";
import {
  closeAccount,
  createAccount,
  eraseAccount,
  freezeAccount,
  setAccountTier,
  setLimits,
  unfreezeAccount,
  updateAccount,
} from "../../../support/operations/accounts.js";
import { cancel, mint, reverse } from "../../../support/operations/transactions.js";
import type { Random } from "../../random.js";
import { DepositCalls } from "./deposit-calls.js";
import { OrderCalls } from "./order-calls.js";
import { type Wish, wishOf } from "./wish.js";

/** The things that the callers of an organization know. */
interface Known {
  readonly accountIds: AccountId[];
  /** The transactions that a caller may want to cancel; some of them can't be. */
  readonly cancelIds: TransactionId[];
  /** The freezes that a caller may want to lift; some of them are lifted already. */
  readonly freezes: Pick<Freeze, "id" | "accountId">[];
  /** Those that a caller may want to reverse; some of them can't be, or have been. */
  readonly reverseIds: TransactionId[];
  readonly wishes: MoneyWish[];
  users: number;
}

const USERS = 4;
const PHONE_NUMBER = "+254712345678" as PhoneNumber;
const OTHER_PHONE_NUMBER = "+254733000000" as PhoneNumber;
const EMAIL = "ann@example.com" as EmailAddress;
// No mint of these amounts is ever done: the schema refuses the one, the domain throws at the
// other.
const BROKEN_AMOUNTS = [0, 0.5] as Cents[];

/** Makes up wishes such that the same names, accounts and transactions meet again and again. */
export class Calls {
  readonly #random: Random;
  readonly #known = new Map<OrganizationId, Known>();
  readonly #names = new Names();
  readonly #orders: OrderCalls;
  readonly #deposits: DepositCalls;

  constructor(random: Random) {
    this.#random = random;
    this.#orders = new OrderCalls(random, () => this.#names.transactionId());
    this.#deposits = new DepositCalls(random, () => this.newIds());
  }

  /** A wish of a caller of the organization. */
  next(organizationId: OrganizationId): Wish {
    const known = this.#knownTo(organizationId);
    if (known.accountIds.length === 0 || this.#random.chance(0.1)) return this.#createAccount(organizationId, known);
    if (this.#random.chance(0.15)) return this.#deposits.next(organizationId, this.#accountId(known));
    if (this.#random.chance(0.4)) {
      const wish = this.#orders.next(organizationId, this.#accountId(known));
      if (wish !== undefined) return wish;
    }
    const dice = this.#random.below(100);
    if (dice < 10) return this.#changeStatus(organizationId, known);
    if (dice < 20 && known.cancelIds.length > 0) return this.#cancel(organizationId, known);
    if (dice < 25) return this.#again(organizationId, known, (wish) => this.#repeated(wish));
    if (dice < 30) return this.#again(organizationId, known, (wish) => this.#otherwise(wish));
    if (dice < 32) return this.#broken(organizationId, known);
    if (dice < 36) return this.#erase(organizationId, known);
    if (dice < 44) return this.#update(organizationId, known);
    if (dice < 50 && known.reverseIds.length > 0) return this.#reverse(organizationId, known);
    if (dice < 55) return this.#limit(organizationId, known);
    return this.#moveMoney(organizationId, known);
  }

  /**
   * Records a resource that a caller has been told of: from now on the organization's callers use
   * it.
   */
  learn(made: Resource): void {
    const isNothing = "deposit" in made && made.deposit === undefined && made.transaction === undefined;
    if (isProposal(made) || isNothing) return;
    const resource = plain(made);
    if ("credits" in resource) this.#deposits.learn(resource);
    if ("sums" in resource || "secretSha256" in resource || "credits" in resource || "usableAt" in resource) return;
    const { accountIds, cancelIds, freezes, reverseIds } = this.#knownTo(resource.organizationId);
    if ("person" in resource) {
      if (!accountIds.includes(resource.id)) accountIds.push(resource.id);
      freezes.push(...resource.freezes.filter((freeze) => freezes.every(({ id }) => id !== freeze.id)));
      return;
    }
    this.#orders.learn(resource);
    const isPending = resource.status === "PENDING";
    if (!cancelIds.includes(resource.id) && (isPending || this.#random.chance(0.1))) cancelIds.push(resource.id);
    if (!reverseIds.includes(resource.id) && this.#random.chance(isPending ? 0.1 : 0.5)) reverseIds.push(resource.id);
  }

  /** New ids of a deposit, and of the mint that credits it. */
  newIds(): NewIds {
    return { newDepositId: this.#names.depositId(), newTransactionId: this.#names.transactionId() };
  }

  /** The orders of the organization of which callers know. */
  ordersOf(organizationId: OrganizationId): readonly Transaction[] {
    return this.#orders.of(organizationId);
  }

  #knownTo(organizationId: OrganizationId): Known {
    let known = this.#known.get(organizationId);
    if (known === undefined) {
      known = { accountIds: [], cancelIds: [], freezes: [], reverseIds: [], wishes: [], users: 0 };
      this.#known.set(organizationId, known);
    }
    return known;
  }

  #createAccount(organizationId: OrganizationId, known: Known): Wish {
    // At first each caller opens an account of its own; later, the same users come again.
    const user = known.users < USERS ? (known.users += 1) : 1 + this.#random.below(USERS);
    const command = createAccount(organizationId, `u${String(user)}`, {
      phoneNumber: this.#random.chance(0.1) ? OTHER_PHONE_NUMBER : PHONE_NUMBER,
      email: user === 1 ? EMAIL : NO_EMAIL,
      depositReferences: this.#random.chance(0.7) ? [0, 1, 2].map(depositReference) : [],
      idempotencyKey: this.#random.chance(0.2) ? this.#names.idempotencyKey() : undefined,
    });
    return wishOf(() => ({ ...command, newAccountId: this.#names.accountId() }));
  }

  #changeStatus(organizationId: OrganizationId, known: Known): Wish {
    const name = this.#random.pick(["freeze", "unfreeze", "unfreeze", "unfreeze", "close"] as const);
    if (name === "close") return this.#close(organizationId, known);
    return name === "freeze" ? this.#freeze(organizationId, known) : this.#unfreeze(organizationId, known);
  }

  #freeze(organizationId: OrganizationId, known: Known): Wish {
    const command = freezeAccount(organizationId, this.#accountId(known), {
      reason: this.#random.pick(["FRAUD", "COURT_ORDER"]),
      idempotencyKey: this.#random.chance(0.5) ? this.#names.idempotencyKey() : undefined,
    });
    return wishOf(() => ({ ...command, newFreezeId: this.#names.freezeId() }));
  }

  #unfreeze(organizationId: OrganizationId, known: Known): Wish {
    const stranger = { id: this.#names.freezeId(), accountId: this.#accountId(known) };
    const { id, accountId } = this.#mostly(known, ({ freezes }) => freezes) ?? stranger;
    const freezeId = this.#random.chance(0.9) ? id : stranger.id;
    return wishOf(() => unfreezeAccount(organizationId, accountId, freezeId));
  }

  #close(organizationId: OrganizationId, known: Known): Wish {
    const command = closeAccount(organizationId, this.#accountId(known));
    return wishOf(() => ({ ...command }));
  }

  #erase(organizationId: OrganizationId, known: Known): Wish {
    const command = eraseAccount(organizationId, this.#accountId(known));
    return wishOf(() => ({ ...command }));
  }

  #update(organizationId: OrganizationId, known: Known): Wish {
    const command = updateAccount(organizationId, this.#accountId(known), {
      phoneNumber: this.#random.chance(0.5) ? this.#random.pick([PHONE_NUMBER, OTHER_PHONE_NUMBER]) : undefined,
      email: this.#random.pick([EMAIL, NO_EMAIL]),
    });
    return wishOf(() => ({ ...command }));
  }

  /** Sets a limit that some amounts meet, or lifts it; or moves an account to another tier. */
  #limit(organizationId: OrganizationId, known: Known): Wish {
    if (this.#random.chance(0.3)) {
      const tier = this.#random.pick(["default", "small", "unknown"]);
      const command = setAccountTier(organizationId, this.#accountId(known), tier);
      return wishOf(() => ({ ...command }));
    }
    const isHold = this.#random.chance(0.5);
    const period = this.#random.pick(isHold ? HELD_PERIODS : LIMIT_PERIODS);
    const most = this.#random.pick(isHold ? ([0, 0, 30, "NONE"] as const) : ([150, 600, 2_000, "NONE"] as const));
    const command = setLimits(organizationId, {
      // Few redemptions meet the rules of one tier.
      tier: isHold || this.#random.chance(0.4) ? undefined : this.#random.pick(["default", "small"]),
      type: isHold ? "REDEEM" : this.#random.pick(["MINT", "REDEEM"]),
      changes: this.#random.chance(0.1) ? undefined : { [period]: most as Cents | "NONE" },
    });
    return wishOf(() => ({ ...command }));
  }

  #cancel(organizationId: OrganizationId, known: Known): Wish {
    const transactionId = this.#mostly(known, ({ cancelIds }) => cancelIds) ?? this.#names.transactionId();
    return wishOf(() => cancel(organizationId, transactionId));
  }

  #reverse(organizationId: OrganizationId, known: Known): Wish {
    const transactionId = this.#mostly(known, ({ reverseIds }) => reverseIds) ?? this.#names.transactionId();
    const command = {
      ...reverse(organizationId, transactionId, { description: this.#random.chance(0.2) ? "typed twice" : "" }),
      idempotencyKey: this.#random.chance(0.25) ? this.#names.idempotencyKey() : undefined,
    };
    return wishOf(() => ({ ...command, newTransactionId: this.#names.transactionId() }));
  }

  #moveMoney(organizationId: OrganizationId, known: Known): Wish {
    const name = this.#random.pick(["mint", "mint", "redeem"] as const);
    const large = this.#random.chance(0.02);
    const most = name === "mint" ? 300 : 100;
    const keyed = this.#random.chance(0.25);
    const wish = new MoneyWish(this.#names, {
      movement: {
        ...directMint(organizationId, this.#accountId(known)),
        name,
        amountCents: (large ? MAX_CENTS - this.#random.below(100) : 1 + this.#random.below(most)) as Cents,
        ...this.#rail(),
        idempotencyKey: keyed ? this.#names.idempotencyKey() : undefined,
      },
    });
    known.wishes.push(wish);
    return wish;
  }

  #rail(): Pick<MoveMoney, "rail" | "railTerms"> {
    if (this.#random.chance(0.6)) return { rail: DIRECT_RAIL };
    const stepCents = (this.#random.chance(0.1) ? 5 : 1) as Cents;
    const payable = { ...RAIL_TERMS.payable, minCents: stepCents, stepCents };
    const phoneCoolingMillis = this.#random.chance(0.25) ? 0 : 600_000;
    return { rail: SLOW_RAIL, railTerms: { ...RAIL_TERMS, payable, phoneCoolingMillis } };
  }

  #broken(organizationId: OrganizationId, known: Known): Wish {
    const amountCents = this.#random.pick(BROKEN_AMOUNTS);
    const movement = { ...directMint(organizationId, this.#accountId(known)), amountCents };
    return new MoneyWish(this.#names, { movement });
  }

  #again(organizationId: OrganizationId, known: Known, change: (wish: MoneyWish) => Wish): Wish {
    return known.wishes.length === 0 ? this.#moveMoney(organizationId, known) : change(this.#random.pick(known.wishes));
  }

  /** Repeats an earlier wish, perhaps with a key of its own. */
  #repeated(wish: MoneyWish): Wish {
    return this.#random.chance(0.5) ? wish.repeated() : wish.repeatedUnder(this.#names.idempotencyKey());
  }

  /** The key of an earlier wish with another reference, or its reference with another amount. */
  #otherwise(wish: MoneyWish): Wish {
    return wish.changed(this.#random.chance(0.5) ? "key" : "reference");
  }

  #accountId(known: Known): AccountId {
    return this.#mostly(known, ({ accountIds }) => accountIds) ?? this.#names.accountId();
  }

  /** Picks an id that the organization knows; rarely one of a stranger, or none. */
  #mostly<Id>(known: Known, idsOf: (known: Known) => readonly Id[]): Id | undefined {
    if (idsOf(known).length > 0 && this.#random.chance(0.92)) return this.#random.pick(idsOf(known));
    const strangers = [...this.#known.values()].filter((other) => other !== known).flatMap(idsOf);
    return strangers.length === 0 || this.#random.chance(0.3) ? undefined : this.#random.pick(strangers);
  }
}

/** New names. Ids are in the order of time, as the real ones are. */
class Names {
  #made = 0;

  accountId(): AccountId {
    return `acc_${this.#next().padStart(26, "0")}` as AccountId;
  }

  transactionId(): TransactionId {
    return `txn_${this.#next().padStart(26, "0")}` as TransactionId;
  }

  depositId(): DepositId {
    return `dep_${this.#next().padStart(26, "0")}` as DepositId;
  }

  freezeId(): FreezeId {
    return `frz_${this.#next().padStart(26, "0")}` as FreezeId;
  }

  reference(): Reference {
    return `r${this.#next()}` as Reference;
  }

  idempotencyKey(): IdempotencyKey {
    return `k${this.#next()}` as IdempotencyKey;
  }

  #next(): string {
    return String((this.#made += 1));
  }
}

type Movement = Omit<MoveMoney, "newTransactionId" | "reference">;

/** A mint or a redemption. */
class MoneyWish implements Wish {
  readonly references = new Set<Reference>();
  shared = false;
  readonly #names: Names;
  readonly #movement: Movement;
  readonly #reference: Reference;

  constructor(names: Names, given: { movement: Movement; reference?: Reference }) {
    this.#names = names;
    this.#movement = given.movement;
    this.#reference = given.reference ?? names.reference();
  }

  next(): Command {
    this.references.add(this.#reference);
    return { ...this.#movement, newTransactionId: this.#names.transactionId(), reference: this.#reference };
  }

  /** The same wish of another caller. */
  repeated(): MoneyWish {
    return this.#sharing({ movement: this.#movement, reference: this.#reference });
  }

  /** The same wish of another caller, with a key of its own. */
  repeatedUnder(idempotencyKey: IdempotencyKey): MoneyWish {
    const movement = { ...this.#movement, idempotencyKey };
    return this.#sharing({ movement, reference: this.#reference });
  }

  /** Another reference under the same key, or another amount under the same reference. */
  changed(name: "key" | "reference"): MoneyWish {
    const { amountCents, idempotencyKey } = this.#movement;
    if (name === "key" && idempotencyKey !== undefined) return this.#sharing({ movement: this.#movement });
    const changed = (amountCents === 1 ? 2 : amountCents - 1) as Cents;
    return this.#sharing({
      movement: { ...this.#movement, amountCents: changed, idempotencyKey: undefined },
      reference: this.#reference,
    });
  }

  #sharing(given: { movement: Movement; reference?: Reference }): MoneyWish {
    const wish = new MoneyWish(this.#names, given);
    this.shared = true;
    wish.shared = true;
    return wish;
  }
}

/** Of one cent. */
function directMint(organizationId: OrganizationId, accountId: AccountId): Movement {
  return mint({ organizationId, accountId, amount: "0.01", reference: "r" });
}
