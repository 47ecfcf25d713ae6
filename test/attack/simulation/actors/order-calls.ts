import type { CorrectBook } from "../../../../src/domain/book/correct-book.js";
import type { ResolveTransaction } from "../../../../src/domain/orders/resolve-transaction.js";
import { FLAG_REASONS, type RailProof, type Resolution } from "../../../../src/domain/payment.js";
import type { Transaction } from "../../../../src/domain/transaction.js";
import { MAX_CENTS, toCents } from "../../../../src/domain/values/cents.js";
import type { AccountId, OrganizationId, TransactionId } from "../../../../src/domain/values/ids.js";
import { movementNamed, receiptNamed, SLOW_RAIL } from "../../../support/names.js";
import { correctBook } from "../../../support/operations/corrections.js";
import {
  advancePayment,
  beginPayment,
  clearFlag,
  completePayment,
  decideHeld,
  failPayment,
  flag,
  resolve,
} from "../../../support/operations/transactions.js";
import type { Random } from "../../random.js";
import { type Wish, wishOf } from "./wish.js";

const RECEIPTS = 6;
const KEYS = 6;

/**
 * Makes up what the settlement and an operator want: the same orders, receipts and keys meet again
 * and again.
 */
export class OrderCalls {
  readonly #random: Random;
  readonly #newTransactionId: () => TransactionId;
  readonly #orders = new Map<OrganizationId, Transaction[]>();
  readonly #proposed: (ResolveTransaction | CorrectBook)[] = [];
  /** The organizations that paid out what no account had held. */
  readonly #paidLate = new Set<OrganizationId>();

  constructor(random: Random, newTransactionId: () => TransactionId) {
    this.#random = random;
    this.#newTransactionId = newTransactionId;
  }

  /** Records a transaction as a caller has been told of it. */
  learn(transaction: Transaction): void {
    if (transaction.rail !== SLOW_RAIL || transaction.depositId !== undefined) return;
    if (transaction.corrects !== undefined) {
      if (transaction.type === "REDEEM") this.#paidLate.add(transaction.organizationId);
      return;
    }
    const own = this.#orders.get(transaction.organizationId) ?? [];
    const others = own.filter(({ id }) => id !== transaction.id);
    this.#orders.set(transaction.organizationId, [...others, transaction]);
  }

  /** The orders of the organization, as callers have been told of them. */
  of(organizationId: OrganizationId): readonly Transaction[] {
    return this.#orders.get(organizationId) ?? [];
  }

  /** Undefined if the organization has no order yet. */
  next(organizationId: OrganizationId, accountId: AccountId): Wish | undefined {
    if (this.#random.chance(this.#paidLate.has(organizationId) ? 0.5 : 0.2))
      return this.#correctBook(organizationId, accountId);
    const orders = this.#orders.get(organizationId) ?? [];
    // There are few redemptions, because most accounts are too poor.
    const redemptions = orders.filter(({ type }) => type === "REDEEM");
    const failed = redemptions.filter(({ status }) => status === "FAILED");
    const rare = failed.length > 0 ? failed : redemptions;
    const held = orders.find(({ heldFor }) => heldFor.length > 0);
    if (held !== undefined && this.#random.chance(0.4)) return this.#decideHeld(held.id, organizationId);
    const own = rare.length > 0 && this.#random.chance(0.7) ? rare : orders;
    const all = [...this.#orders.values()].flat();
    const order = this.#random.chance(0.97) ? own.at(-1 - this.#random.below(3)) : all[0];
    return order === undefined ? undefined : this.#wishAbout(order, organizationId);
  }

  /** Mostly the next step of an order, and sometimes any. */
  #wishAbout(order: Transaction, organizationId: OrganizationId): Wish {
    const { id, status, openFlags, heldFor } = order;
    const [open] = openFlags;
    const isLikely = this.#random.chance(0.7);
    if (isLikely && open !== undefined) {
      if (status === "PROCESSING" && this.#random.chance(0.8)) return this.#resolve(order, organizationId);
      return wishOf(() => clearFlag(organizationId, id, open));
    }
    if (heldFor.length > 0 && this.#random.chance(0.5)) return this.#decideHeld(id, organizationId);
    if (isLikely && status === "PENDING" && this.#random.chance(0.9))
      return wishOf(() => beginPayment(organizationId, id));
    if (isLikely && status === "PROCESSING" && order.type === "REDEEM" && this.#random.chance(0.8)) {
      return wishOf(() => failPayment(organizationId, id));
    }
    if (isLikely && status === "FAILED") return this.#complete(order, organizationId);
    const dice = this.#random.below(100);
    // No account at a rail has ever changed, so only the first revision fits.
    if (dice < 10) return wishOf(() => beginPayment(organizationId, id, this.#random.pick([0, 0, 1])));
    if (dice < 20) return wishOf(() => advancePayment("acceptPayment", organizationId, id));
    if (dice < 30)
      return wishOf(() =>
        advancePayment("postponePayment", organizationId, id, this.#random.pick([1, 1, 2]), this.#random.chance(0.5)),
      );
    if (dice < 60) return this.#complete(order, organizationId);
    const failure = this.#random.pick(["WRONG_PIN", "EXPIRED"] as const);
    if (dice < 75) return wishOf(() => failPayment(organizationId, id, failure));
    const reason = this.#random.pick(FLAG_REASONS);
    if (dice < 79) return wishOf(() => clearFlag(organizationId, id, reason));
    if (dice < 92) return wishOf(() => flag(organizationId, id, reason));
    return dice < 94 ? this.#decideHeld(id, organizationId) : this.#resolve(order, organizationId);
  }

  #decideHeld(id: TransactionId, organizationId: OrganizationId): Wish {
    const name = this.#random.pick(["releaseTransaction", "refuseTransaction"] as const);
    return wishOf(() => decideHeld(name, organizationId, id));
  }

  /** Most reports of one order name the same movement and receipt. */
  #complete({ id, status, amountCents }: Transaction, organizationId: OrganizationId): Wish {
    const movement = movementNamed(this.#random.chance(0.8) ? `m ${id}` : "m");
    const receipt = this.#receipt(id);
    const proof = this.#random.pick<RailProof>([
      { movement, receipt },
      { movement, receipt: undefined },
      { movement: undefined, receipt },
    ]);
    // A late report of more than the account has leaves a shortfall.
    const much = amountCents + 100_000;
    const reported =
      status === "FAILED" && this.#random.chance(0.7)
        ? much
        : this.#random.pick([0, amountCents, amountCents, amountCents + 1, much]);
    const made = completePayment(organizationId, id, {});
    return wishOf(() => ({
      ...made,
      ...proof,
      ...(reported === 0 ? {} : { amountCents: toCents(Math.min(reported, MAX_CENTS)) }),
      newTransactionId: this.#newTransactionId(),
    }));
  }

  #resolve({ id, amountCents }: Transaction, organizationId: OrganizationId): Wish {
    const receipt = this.#receipt(id);
    const resolution = this.#random.pick<Resolution>([
      { kind: "COMPLETED", receipt },
      { kind: "FAILED" },
      { kind: "MOVED", receipt, amountCents: toCents(Math.max(1, amountCents - 3)) },
    ]);
    const person = this.#random.pick(["amina", "brian"]);
    const made = this.#proposedOr(resolve(organizationId, id, resolution, { person }));
    return wishOf(() => ({
      ...made,
      ...("newTransactionId" in made ? { newTransactionId: this.#newTransactionId() } : {}),
    }));
  }

  #correctBook(organizationId: OrganizationId, accountId: AccountId): Wish {
    const moved = this.of(organizationId).findLast(({ status }) => status === "COMPLETED")?.id;
    const name = this.#random.pick<CorrectBook["name"]>([
      // Only what a rail has moved can be adjusted, and few orders complete.
      ...(moved === undefined ? [] : (["adjustMovement", "adjustMovement"] as const)),
      ...(this.#paidLate.has(organizationId)
        ? (["coverShortfall", "coverShortfall", "coverShortfall", "recoverShortfall"] as const)
        : []),
      "coverShortfall",
      "recoverShortfall",
      "allocate",
      "returnUnallocated",
      "bookReceipt",
      "bookReceipt",
      "bookPayment",
      "adjustMovement",
      "explainTransfer",
      "fundCharges",
    ]);
    const needsAccount = name === "recoverShortfall" || name === "allocate";
    const movement = name === "adjustMovement" && this.#random.chance(0.8) ? moved : undefined;
    const made = correctBook(name, organizationId, {
      amountCents: 1 + this.#random.below(this.#random.pick([5, 60])),
      key: `c${String(this.#random.below(KEYS))}`,
      target: needsAccount ? accountId : (movement ?? this.#receipt(undefined)),
      account: this.#random.chance(0.5) ? accountId : undefined,
      direction: this.#random.pick(["in", "out"]),
      person: this.#random.pick(["amina", "brian"]),
    });
    return wishOf(() => ({ ...this.#proposedOr(made) }));
  }

  /**
   * No organization has an account at a rail, so nobody decides alone. Mostly a person wants what
   * one has wanted before.
   */
  #proposedOr(made: ResolveTransaction | CorrectBook): ResolveTransaction | CorrectBook {
    const { organizationId, authority } = made;
    const proposed = this.#proposed.filter((each) => each.organizationId === organizationId).at(-1);
    if (proposed !== undefined && this.#random.chance(0.75)) return { ...proposed, authority };
    this.#proposed.push(made);
    return made;
  }

  #receipt(own: TransactionId | undefined): ReturnType<typeof receiptNamed> {
    const isOwn = own !== undefined && this.#random.chance(0.8);
    return receiptNamed(isOwn ? `r ${own}` : `r${String(this.#random.below(RECEIPTS))}`);
  }
}
