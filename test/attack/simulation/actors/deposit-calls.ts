import type { NewIds } from "../../../../src/domain/authority.js";
import type { Deposit } from "../../../../src/domain/deposit.js";
import type { MoveMoney } from "../../../../src/domain/money/move-money.js";
import type { DepositCommand } from "../../../../src/domain/operations.js";
import { DIRECT_RAIL } from "../../../../src/domain/transaction.js";
import { toCents } from "../../../../src/domain/values/cents.js";
import type { AccountId, OrganizationId } from "../../../../src/domain/values/ids.js";
import type { Reference } from "../../../../src/domain/values/text.js";
import { receiptNamed } from "../../../support/names.js";
import {
  assignDeposit,
  recordCharge,
  recordDeposit,
  returnDeposit,
  reverseDeposit,
  unassignDeposit,
} from "../../../support/operations/deposits.js";
import { mint } from "../../../support/operations/transactions.js";
import type { Random } from "../../random.js";
import { type Wish, wishOf } from "./wish.js";

const RECEIPTS = 6;

/** Makes up what operators want about deposits, and callers who claim one. */
export class DepositCalls {
  readonly #random: Random;
  readonly #newIds: () => NewIds;
  readonly #known = new Map<OrganizationId, Deposit[]>();
  readonly #wanted = new Map<OrganizationId, DepositCommand>();
  #made = 0;

  constructor(random: Random, newIds: () => NewIds) {
    this.#random = random;
    this.#newIds = newIds;
  }

  /** Records a deposit as somebody has been told of it. */
  learn(deposit: Deposit): void {
    const own = this.#known.get(deposit.organizationId) ?? [];
    this.#known.set(deposit.organizationId, [...own.filter(({ id }) => id !== deposit.id), deposit]);
  }

  next(organizationId: OrganizationId, accountId: AccountId): Wish {
    const deposit = this.#deposit(organizationId);
    const dice = this.#random.below(100);
    if (dice < 5) {
      const movement = `r${String(this.#random.below(RECEIPTS))}`;
      const command = recordCharge(organizationId, { movement, direction: this.#random.pick(["in", "out"]) });
      return wishOf(() => ({ ...command }));
    }
    if (dice < 25 && deposit !== undefined) return this.#claim(deposit, accountId);
    const wanted = this.#wanted.get(organizationId);
    // No organization has an account at a rail, so nobody decides alone.
    const command = wanted !== undefined && this.#random.chance(0.6) ? wanted : this.#act(organizationId, accountId);
    this.#wanted.set(organizationId, command);
    const { authority } = recordDeposit(organizationId, { person: this.#random.pick(["carol", "dan"]) });
    return wishOf(() => ({
      ...command,
      authority,
      ...("facts" in command ? { facts: this.#newIds() } : {}),
    }));
  }

  #act(organizationId: OrganizationId, accountId: AccountId): DepositCommand {
    const deposit = this.#deposit(organizationId);
    const name = this.#random.pick([
      "record",
      "assign",
      "assign",
      "unassign",
      "unassign",
      "return",
      "reverse",
    ] as const);
    const amountCents = toCents(1 + this.#random.below(60));
    if (deposit === undefined || name === "record") {
      const account = this.#random.chance(0.5) ? accountId : undefined;
      const own = { amountCents, accountId: account };
      return recordDeposit(organizationId, { receipt: this.#receipt("h"), ...own });
    }
    const { id, transactionId } = deposit;
    if (name === "assign") return assignDeposit(organizationId, id, accountId);
    if (name === "return") return returnDeposit(organizationId, id, this.#receipt("back"));
    if (name === "reverse")
      return reverseDeposit(organizationId, id, { transactionId, receipt: this.#receipt("back") });
    return unassignDeposit(organizationId, id, transactionId ?? this.#newIds().newTransactionId);
  }

  #claim({ organizationId, receipt: own, amountCents }: Deposit, accountId: AccountId): Wish {
    const receipt = this.#random.chance(0.9) ? own : receiptNamed(this.#receipt("h"));
    const given = { organizationId, accountId, amount: "0.01", reference: "claim", rail: DIRECT_RAIL };
    const command: MoveMoney = {
      ...mint(given),
      amountCents: this.#random.chance(0.8) ? amountCents : toCents(amountCents + 1),
      reference: `claims ${receipt}` as Reference,
      receipt,
    };
    return wishOf(() => ({ ...command, newTransactionId: this.#newIds().newTransactionId }));
  }

  #deposit(organizationId: OrganizationId): Deposit | undefined {
    const own = this.#known.get(organizationId) ?? [];
    return this.#random.chance(0.95) ? own.at(-1 - this.#random.below(4)) : [...this.#known.values()].flat()[0];
  }

  #receipt(kind: string): string {
    return this.#random.chance(0.7)
      ? `${kind} ${String((this.#made += 1))}`
      : `r${String(this.#random.below(RECEIPTS))}`;
  }
}
