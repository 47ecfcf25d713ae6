import type { AssignDeposit } from "../../../src/domain/deposits/assign-deposit.js";
import type { EndReturn } from "../../../src/domain/deposits/end-return.js";
import type { ReceiveDeposit } from "../../../src/domain/deposits/receive-deposit.js";
import type { RecordDeposit } from "../../../src/domain/deposits/record-deposit.js";
import type { ReturnDeposit } from "../../../src/domain/deposits/return-deposit.js";
import type { ReverseDeposit } from "../../../src/domain/deposits/reverse-deposit.js";
import type { UnassignDeposit } from "../../../src/domain/deposits/unassign-deposit.js";
import type { DepositCommand } from "../../../src/domain/operations.js";
import type { Refusal } from "../../../src/domain/refusal.js";
import type { Transaction } from "../../../src/domain/transaction.js";
import type { AccountId, DepositId, OrganizationId, TransactionId } from "../../../src/domain/values/ids.js";
import type { UnixMillis } from "../../../src/domain/values/time.js";
import type { LimitsModel } from "./limits-model.js";
import type { PaymentsModel } from "./payments-model.js";
import {
  type Answer,
  CENTS_MAX,
  done,
  type ModelAccount,
  type ModelBook,
  type ModelDeposit,
  type ModelTransaction,
  NO_REPORT,
  post,
  refused,
  SUM_CENTS_MAX,
} from "./rows.js";

// The rules of docs/adr/0064 in the plainest code, as model.ts has those of docs/api.md.

/** What the other models have. */
interface Shared {
  readonly accounts: ReadonlyMap<AccountId, ModelAccount>;
  readonly transactions: Map<TransactionId, ModelTransaction>;
  readonly limits: LimitsModel;
  readonly payments: PaymentsModel;
  bookOf(organizationId: OrganizationId): ModelBook;
  /** The time of the command. */
  now(): UnixMillis;
  /** A caller who reverses the transaction now gets the redemption that has undone it. */
  reversed(redemption: ModelTransaction, id: TransactionId): void;
}

type MintOf = Pick<ModelTransaction, "id" | "accountId" | "reference" | "description" | "rail">;

export class DepositsModel {
  readonly rows = new Map<DepositId, ModelDeposit>();
  readonly #shared: Shared;
  /** The content of each act that waits for a second person, and who wants it. */
  readonly #wanted = new Map<string, string>();

  constructor(shared: Shared) {
    this.#shared = shared;
  }

  /** Shillings that the rail lists. `typedNumber` is undefined unless the payer typed a number. */
  receive(command: ReceiveDeposit, typedNumber: string | undefined): Answer {
    const { organizationId, receipt, amountCents, orderId, typedReference } = command;
    const { payments, limits } = this.#shared;
    const known = payments.ownerOf(organizationId, receipt);
    if (known !== undefined) {
      const deposit = [...this.rows.values()].find(
        (row) => row.organizationId === organizationId && row.receipt === receipt,
      );
      return done(deposit ?? { isTaken: true }, { replayed: true });
    }
    const book = this.#shared.bookOf(organizationId);
    if (book.state === "RESTORED") return refused({ reason: "BOOK_RESTORED" });
    payments.rows = 0;
    const ofOrder = orderId === undefined ? undefined : payments.receive({ ...command, orderId });
    if (ofOrder !== undefined) return ofOrder;
    if (book.sums.reserve + amountCents > SUM_CENTS_MAX || book.sums.unallocated + amountCents > SUM_CENTS_MAX) {
      return refused({ reason: "LIMIT_EXCEEDED", accountId: undefined, limitCents: SUM_CENTS_MAX });
    }
    const own = [...this.#shared.accounts.values()].filter((each) => each.organizationId === organizationId);
    const account = own.find((each) => typedNumber !== undefined && each.depositReference === typedNumber);
    const movement = { id: command.newTransactionId, organizationId, type: "MINT", amountCents } as const;
    const isBeyond = (each: ModelAccount): boolean =>
      each.availableCents + each.heldCents + amountCents > CENTS_MAX ||
      book.sums.available + amountCents > SUM_CENTS_MAX ||
      limits.refusal(each, { ...movement, accountId: each.id }, this.#shared.now()) !== undefined;
    const reason =
      orderId !== undefined
        ? "ORDER_UNCLEAR"
        : typedReference === ""
          ? "NO_REFERENCE"
          : account === undefined
            ? "UNKNOWN_REFERENCE"
            : account.status === "CLOSED"
              ? "ACCOUNT_CLOSED"
              : isBeyond(account)
                ? "LIMIT_EXCEEDED"
                : undefined;
    const deposit = this.#received(command, command.newDepositId, reason);
    if (account !== undefined && reason === undefined) {
      this.#creditAs(deposit, { rail: command.rail, accountId: account.id, id: command.newTransactionId });
    }
    return done(deposit, { replayed: false });
  }

  act(command: DepositCommand): Answer {
    const { payments } = this.#shared;
    payments.rows = 0;
    const decided = this.#decide(command);
    if (typeof decided !== "function") return decided;
    const { authority, organizationId, ...rest } = command;
    const content = JSON.stringify([organizationId, { ...rest, facts: undefined, actor: undefined }]);
    const before = this.#wanted.get(content);
    payments.rows = 1;
    if (before === undefined) {
      this.#wanted.set(content, authority.person);
      return done({ isProposed: true }, { replayed: false });
    }
    payments.rows = 0;
    if (before === authority.person) return done({ isProposed: true }, { replayed: true });
    this.#wanted.delete(content);
    const resource = decided();
    // The last row names the proposal.
    payments.rows += 1;
    return done(resource, { replayed: false });
  }

  /** The deposit whose shillings a mint with that receipt attests. */
  claimedBy(organizationId: OrganizationId, receipt: string, amountCents: number): ModelDeposit | undefined {
    return [...this.rows.values()].find(
      (row) =>
        row.organizationId === organizationId &&
        row.receipt === receipt &&
        row.status === "UNALLOCATED" &&
        row.amountCents === amountCents,
    );
  }

  /** Makes the mint that credits a deposit. */
  credit(deposit: ModelDeposit, given: MintOf): ModelTransaction {
    const { organizationId, amountCents, receipt } = deposit;
    const { limits } = this.#shared;
    const account = this.#account(given.accountId);
    post(this.#shared.bookOf(organizationId), account, { unallocated: 0 - amountCents, available: amountCents });
    const mint = this.#transaction({
      ...given,
      organizationId,
      type: "MINT",
      amountCents,
      railReceipt: receipt,
      corrects: undefined,
      depositId: deposit.id,
    });
    limits.accept(mint, this.#shared.now());
    const { credits } = deposit;
    Object.assign(deposit, { status: "CREDITED", reason: undefined, accountId: account.id, transactionId: mint.id });
    deposit.credits = credits + 1;
    return mint;
  }

  /** Returns what the command does, or what it is answered. */
  #decide(command: DepositCommand): Answer | (() => ModelDeposit) {
    switch (command.name) {
      case "recordDeposit":
        return this.#record(command);
      case "assignDeposit":
        return this.#assign(command);
      case "unassignDeposit":
        return this.#unassign(command);
      case "returnDeposit":
        return this.#return(command);
      case "reverseDeposit":
        return this.#reverse(command);
    }
  }

  #record(command: RecordDeposit): Answer | (() => ModelDeposit) {
    const { organizationId, receipt, amountCents, accountId } = command;
    const { sums } = this.#shared.bookOf(organizationId);
    const same = [...this.rows.values()].find(
      (row) => row.organizationId === organizationId && row.receipt === receipt,
    );
    if (same?.amountCents === amountCents && same.accountId === accountId) return done(same, { replayed: true });
    const used = this.#shared.payments.usedReceipt(organizationId, receipt);
    if (used !== undefined) return refused(used);
    if (sums.reserve + amountCents > SUM_CENTS_MAX || sums.unallocated + amountCents > SUM_CENTS_MAX) {
      return refused({ reason: "LIMIT_EXCEEDED", accountId: undefined, limitCents: SUM_CENTS_MAX });
    }
    const refusal = accountId === undefined ? undefined : this.#refusalToCredit(organizationId, accountId, amountCents);
    if (refusal !== undefined) return refused(refusal);
    return () => {
      const { newDepositId, newTransactionId: id } = command.facts;
      const deposit = this.#received(command, newDepositId, accountId === undefined ? "BY_HAND" : undefined);
      if (accountId !== undefined) this.#creditAs(deposit, { rail: "direct" as Transaction["rail"], accountId, id });
      return deposit;
    };
  }

  #assign({ organizationId, depositId, accountId, facts }: AssignDeposit): Answer | (() => ModelDeposit) {
    const deposit = this.#own(organizationId, depositId);
    if (deposit === undefined) return refused({ reason: "DEPOSIT_NOT_FOUND", depositId });
    const { status: from } = deposit;
    if (from === "CREDITED" && deposit.accountId === accountId) return done(deposit, { replayed: true });
    if (from !== "UNALLOCATED") return refused({ reason: "INVALID_TRANSITION", from, to: "CREDITED" });
    const refusal = this.#refusalToCredit(organizationId, accountId, deposit.amountCents);
    if (refusal !== undefined) return refused(refusal);
    return () => this.#creditAs(deposit, { rail: deposit.rail, accountId, id: facts.newTransactionId });
  }

  #unassign({ organizationId, depositId, transactionId, facts }: UnassignDeposit): Answer | (() => ModelDeposit) {
    const deposit = this.#own(organizationId, depositId);
    if (deposit === undefined) return refused({ reason: "DEPOSIT_NOT_FOUND", depositId });
    const { status: from, amountCents } = deposit;
    if (from === "UNALLOCATED") return done(deposit, { replayed: true });
    const mint = from === "CREDITED" ? this.#creditOf(deposit, transactionId) : undefined;
    if (mint === undefined) return refused({ reason: "INVALID_TRANSITION", from, to: "UNALLOCATED" });
    const account = this.#account(mint.accountId);
    const { availableCents } = account;
    if (account.status === "FROZEN") return refused({ reason: "ACCOUNT_FROZEN", accountId: account.id });
    if (availableCents < amountCents) {
      return refused({ reason: "INSUFFICIENT_FUNDS", availableCents, requestedCents: amountCents });
    }
    return () => {
      post(this.#shared.bookOf(organizationId), account, { available: 0 - amountCents, unallocated: amountCents });
      this.#takenBack(mint, { id: facts.newTransactionId, receipt: undefined });
      const nobody = { accountId: undefined, transactionId: undefined };
      return Object.assign(deposit, { status: "UNALLOCATED", reason: "UNASSIGNED", ...nobody } as const);
    };
  }

  #return({ organizationId, depositId, receipt }: ReturnDeposit): Answer | (() => ModelDeposit) {
    const deposit = this.#own(organizationId, depositId);
    if (deposit === undefined) return refused({ reason: "DEPOSIT_NOT_FOUND", depositId });
    const { status: from } = deposit;
    if (from === "RETURNED") return done(deposit, { replayed: true });
    if (from !== "UNALLOCATED") return refused({ reason: "INVALID_TRANSITION", from, to: "RETURNED" });
    // No organization of the model has an account at a rail.
    if (receipt === undefined) return refused({ reason: "RAIL_ACCOUNT_NOT_FOUND", rail: deposit.rail });
    const used = this.#shared.payments.usedReceipt(organizationId, receipt);
    return used === undefined ? () => this.#wentBack(deposit, "RETURNED", receipt) : refused(used);
  }

  endReturn({ organizationId, depositId, receipt }: EndReturn): Answer {
    const deposit = this.#own(organizationId, depositId);
    if (deposit === undefined) return refused({ reason: "DEPOSIT_NOT_FOUND", depositId });
    const { status: from } = deposit;
    const to = receipt === undefined ? "UNALLOCATED" : "RETURNED";
    return from === to ? done(deposit, { replayed: true }) : refused({ reason: "INVALID_TRANSITION", from, to });
  }

  #reverse({
    organizationId,
    depositId,
    transactionId,
    receipt,
    facts,
  }: ReverseDeposit): Answer | (() => ModelDeposit) {
    const deposit = this.#own(organizationId, depositId);
    if (deposit === undefined) return refused({ reason: "DEPOSIT_NOT_FOUND", depositId });
    const { status: from, amountCents } = deposit;
    const used = this.#shared.payments.usedReceipt(organizationId, receipt);
    const isOwn =
      used?.reason === "RECEIPT_ALREADY_USED" && used.depositId === depositId && receipt !== deposit.receipt;
    if (from === "REVERSED" || (from === "RETURNED" && isOwn)) return done(deposit, { replayed: true });
    const mint =
      from === "CREDITED" && transactionId !== undefined ? this.#creditOf(deposit, transactionId) : undefined;
    if (mint === undefined && from !== "UNALLOCATED") {
      return refused({ reason: "INVALID_TRANSITION", from, to: "REVERSED" });
    }
    if (used !== undefined) return refused(used);
    if (mint === undefined) return () => this.#wentBack(deposit, "REVERSED", receipt);
    return () => {
      const account = this.#account(mint.accountId);
      const canPay = account.availableCents >= amountCents;
      const by = canPay ? { available: 0 - amountCents } : { shortfall: amountCents };
      post(this.#shared.bookOf(organizationId), account, { ...by, reserve: 0 - amountCents });
      this.#takenBack(mint, { id: facts.newTransactionId, receipt });
      return Object.assign(deposit, { status: "REVERSED", reason: undefined } as const);
    };
  }

  #received(
    { organizationId, receipt, amountCents, ...given }: ReceiveDeposit | RecordDeposit,
    id: DepositId,
    reason: ModelDeposit["reason"],
  ): ModelDeposit {
    const rail = "rail" in given ? given.rail : ("direct" as Transaction["rail"]);
    const nobody = { accountId: undefined, transactionId: undefined, credits: 0 };
    const row: ModelDeposit = {
      id,
      organizationId,
      rail,
      receipt,
      amountCents,
      status: "UNALLOCATED",
      reason,
      ...nobody,
    };
    this.rows.set(id, row);
    post(this.#shared.bookOf(organizationId), undefined, { reserve: amountCents, unallocated: amountCents });
    this.#shared.payments.note(organizationId, receipt, id);
    this.#shared.payments.rows += 1;
    return row;
  }

  #creditAs(deposit: ModelDeposit, given: Pick<MintOf, "id" | "accountId" | "rail">): ModelDeposit {
    const reference = `kesc:deposit:${deposit.id}:${String(deposit.credits + 1)}` as Transaction["reference"];
    this.credit(deposit, { ...given, reference, description: "" as Transaction["description"] });
    this.#shared.payments.rows += 1;
    return deposit;
  }

  #wentBack(deposit: ModelDeposit, status: "RETURNED" | "REVERSED", receipt: ModelDeposit["receipt"]): ModelDeposit {
    const { organizationId, amountCents, id } = deposit;
    post(this.#shared.bookOf(organizationId), undefined, { reserve: 0 - amountCents, unallocated: 0 - amountCents });
    this.#shared.payments.note(organizationId, receipt, id);
    this.#shared.payments.rows += 1;
    return Object.assign(deposit, { status, reason: undefined });
  }

  /** Notes that the mint was undone, by a redemption with this id. */
  #takenBack(
    mint: ModelTransaction,
    { id, receipt }: { id: TransactionId; receipt: ModelDeposit["receipt"] | undefined },
  ): void {
    const { organizationId, accountId, amountCents, rail, depositId } = mint;
    const redemption = this.#transaction({
      id,
      organizationId,
      accountId,
      type: "REDEEM",
      amountCents,
      reference: `kesc:reverse:${mint.id}` as Transaction["reference"],
      description: "" as Transaction["description"],
      rail,
      railReceipt: receipt,
      corrects: { kind: "REVERSAL", transactionId: mint.id },
      depositId,
    });
    mint.reversedById = id;
    this.#shared.reversed(redemption, mint.id);
    this.#shared.limits.takeBack(mint.id);
    if (receipt !== undefined) this.#shared.payments.note(organizationId, receipt, id);
    this.#shared.payments.rows += 1;
  }

  #transaction(
    given: Omit<
      ModelTransaction,
      | "status"
      | "railMovement"
      | "failure"
      | "openFlags"
      | "heldFor"
      | "reversedById"
      | "availableAfterCents"
      | "payment"
    >,
  ): ModelTransaction {
    const row: ModelTransaction = {
      ...NO_REPORT,
      ...given,
      status: "COMPLETED",
      reversedById: undefined,
      availableAfterCents: this.#account(given.accountId).availableCents,
      payment: undefined,
    };
    this.#shared.transactions.set(row.id, row);
    return row;
  }

  #refusalToCredit(organizationId: OrganizationId, accountId: AccountId, amountCents: number): Refusal | undefined {
    const account = this.#shared.accounts.get(accountId);
    const { sums } = this.#shared.bookOf(organizationId);
    if (account?.organizationId !== organizationId) return { reason: "ACCOUNT_NOT_FOUND", accountId };
    if (account.status === "CLOSED") return { reason: "ACCOUNT_CLOSED", accountId };
    if (account.availableCents + account.heldCents + amountCents > CENTS_MAX) {
      return { reason: "LIMIT_EXCEEDED", accountId, limitCents: CENTS_MAX };
    }
    return Math.max(sums.reserve, sums.available) + amountCents > SUM_CENTS_MAX
      ? { reason: "LIMIT_EXCEEDED", accountId: undefined, limitCents: SUM_CENTS_MAX }
      : undefined;
  }

  #creditOf({ transactionId }: ModelDeposit, named: TransactionId): ModelTransaction | undefined {
    return transactionId === named ? this.#shared.transactions.get(named) : undefined;
  }

  #account(id: AccountId): ModelAccount {
    const account = this.#shared.accounts.get(id);
    if (account === undefined) throw new Error(`the model has no account ${id}`);
    return account;
  }

  #own(organizationId: OrganizationId, id: DepositId): ModelDeposit | undefined {
    const deposit = this.rows.get(id);
    return deposit?.organizationId === organizationId ? deposit : undefined;
  }
}

/** The sum of the deposits that wait for a person. */
export function unallocatedOf(rows: Iterable<Pick<ModelDeposit, "status" | "amountCents">>): number {
  let sum = 0;
  for (const { status, amountCents } of rows) sum += status === "UNALLOCATED" ? amountCents : 0;
  return sum;
}
