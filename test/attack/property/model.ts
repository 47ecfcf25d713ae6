import type { CloseAccount } from "../../../src/domain/accounts/close-account.js";
import type { CreateAccount } from "../../../src/domain/accounts/create-account.js";
import type { EraseAccount } from "../../../src/domain/accounts/erase-account.js";
import type { FreezeAccount } from "../../../src/domain/accounts/freeze-account.js";
import type { SetAccountTier } from "../../../src/domain/accounts/set-account-tier.js";
import type { UnfreezeAccount } from "../../../src/domain/accounts/unfreeze-account.js";
import type { UpdateAccount } from "../../../src/domain/accounts/update-account.js";
import { type BookState, type BookSums, NO_SUMS } from "../../../src/domain/book.js";
import type { SetLimits } from "../../../src/domain/book/set-limits.js";
import type { MoveMoney } from "../../../src/domain/money/move-money.js";
import type { ReverseTransaction } from "../../../src/domain/money/reverse-transaction.js";
import type { Command } from "../../../src/domain/operations.js";
import type { CancelTransaction } from "../../../src/domain/orders/cancel-transaction.js";
import type { RailTerms } from "../../../src/domain/payment.js";
import type { Refusal } from "../../../src/domain/refusal.js";
import type { Transaction } from "../../../src/domain/transaction.js";
import { readDepositReference } from "../../../src/domain/values/deposit-reference.js";
import type { AccountId, DepositId, FreezeId, OrganizationId, TransactionId } from "../../../src/domain/values/ids.js";
import { maskPhone } from "../../../src/domain/values/masked-phone.js";
import { toUnixMillis, type UnixMillis } from "../../../src/domain/values/time.js";
import { holdsInSuspension, isModelled } from "../../support/operations/table.js";
import { DepositsModel, unallocatedOf } from "./deposits-model.js";
import { LimitsModel, type SeenLimits } from "./limits-model.js";
import { PaymentsModel } from "./payments-model.js";
import {
  type Answer,
  cents,
  CENTS_MAX,
  done,
  type ModelAccount,
  type ModelBook,
  type ModelDeposit,
  type ModelFreeze,
  type ModelTransaction,
  NO_REPORT,
  post,
  refused,
  type Seen,
  seen,
  type SeenDeposit,
  seenDeposit,
  SUM_CENTS_MAX,
} from "./rows.js";

// The contract (docs/api.md) in the plainest code: maps, one command at a time, no storage. It
// shares names with src/, and no decision.

/**
 * Every answer of the model, in a word: the reason of a refusal, "done" or "replayed". Runs that
 * meet no frozen account prove nothing about one, so all runs together must meet all of these.
 */
export const ANSWER_WORDS: readonly string[] = [
  "ACCOUNT_ALREADY_EXISTS",
  "ACCOUNT_CLOSED",
  "ACCOUNT_ERASED",
  "ACCOUNT_FROZEN",
  "ACCOUNT_HAS_OPEN_TRANSACTIONS",
  "ACCOUNT_NOT_EMPTY",
  "ACCOUNT_NOT_FOUND",
  "AMOUNT_NOT_PAYABLE",
  "BOOK_ACCOUNT_TOO_LOW",
  "BOOK_MOVING",
  "BOOK_RESTORED",
  "CLOCK_BEHIND",
  "DEPOSIT_NOT_FOUND",
  "FREEZE_NOT_FOUND",
  "IDEMPOTENCY_KEY_REUSED",
  "INSUFFICIENT_FUNDS",
  "INVALID_TRANSITION",
  "TRANSACTION_STILL_OPEN",
  "TRANSACTION_ALREADY_ENDED",
  "LIMIT_EXCEEDED",
  "MOVEMENT_NOT_FOUND",
  "ORGANIZATION_SUSPENDED",
  "PHONE_NUMBER_COOLING",
  "PHONE_NUMBER_MISSING",
  "RAIL_ACCOUNT_CHANGED",
  "RAIL_ACCOUNT_NOT_FOUND",
  "RECEIPT_ALREADY_USED",
  "REFERENCE_ALREADY_USED",
  "TOO_MANY_FREEZES",
  "TOO_MANY_TIERS",
  "TRANSACTION_ALREADY_REVERSED",
  "TRANSACTION_NOT_FOUND",
  "TRANSACTION_NOT_REVERSIBLE",
  "done",
  "replayed",
];

/** All that an organization has: its accounts and transactions, newest first, and its book. */
export interface State {
  readonly accounts: readonly Seen[];
  readonly transactions: readonly Seen[];
  readonly deposits: readonly SeenDeposit[];
  readonly book: Readonly<ModelBook> | undefined;
  readonly limits: SeenLimits | undefined;
}

/**
 * A resource that was made, and the content with which a repeat is compared, by the contract's
 * names of fields.
 */
interface Made {
  readonly resource: ModelAccount | ModelTransaction;
  readonly content: Content;
}
type Content = Readonly<Record<string, string>>;

const FREEZES_MAX = 20;
const BEHIND_MILLIS_MAX = 60_000;

export class Model {
  readonly accounts = new Map<AccountId, ModelAccount>();
  /** Each freeze that was ever made, in their order. */
  readonly freezes = new Map<FreezeId, ModelFreeze>();
  readonly transactions = new Map<TransactionId, ModelTransaction>();
  // The keys are user_id, reference and idempotency key, each within its organization.
  readonly #made = new Map<string, Made>();
  /** By the idempotency key of the freeze. */
  readonly #keyedFreezes = new Map<string, { readonly freeze: ModelFreeze; readonly content: Content }>();
  readonly #books = new Map<OrganizationId, ModelBook>();
  readonly #limits = new LimitsModel();
  readonly #payments: PaymentsModel = new PaymentsModel({
    accounts: this.accounts,
    transactions: this.transactions,
    bookOf: (organizationId) => this.#bookOf(organizationId),
    now: () => this.#now,
    unallocatedDepositCents: (organizationId) => unallocatedOf(this.#own(organizationId, this.deposits)),
    takeBack: (id) => {
      this.#limits.takeBack(id);
    },
  });
  readonly #deposits: DepositsModel = new DepositsModel({
    accounts: this.accounts,
    transactions: this.transactions,
    limits: this.#limits,
    payments: this.#payments,
    bookOf: (organizationId) => this.#bookOf(organizationId),
    now: () => this.#now,
    reversed: (resource, transactionId) => {
      const name = `${resource.organizationId} reference ${resource.reference}`;
      this.#made.set(name, { resource, content: { corrects: transactionId, description: "" } });
    },
  });
  readonly deposits: ReadonlyMap<DepositId, ModelDeposit> = this.#deposits.rows;
  /** The time of the command that is being done. */
  #now = toUnixMillis(0);
  #clock = toUnixMillis(0);
  readonly #acceptedAt = new Map<TransactionId, UnixMillis>();

  /** Opens the organization's book. Its first row, at this time, says that it was created. */
  open(organizationId: OrganizationId, at: UnixMillis, sums: BookSums = NO_SUMS): void {
    this.#books.set(organizationId, { state: "OPEN", isSuspended: false, lastSeq: 1, lastRecordedAt: at, sums });
  }

  /** Does what an operator does who moves a book, or restores it. */
  setState(organizationId: OrganizationId, state: BookState): void {
    this.#bookOf(organizationId).state = state;
  }

  /** Does what an operator does who suspends an organization, or resumes it. */
  setSuspended(organizationId: OrganizationId, isSuspended: boolean): void {
    this.#bookOf(organizationId).isSuspended = isSuspended;
  }

  /** `clock` is that of the server. */
  submit(command: Command, clock: UnixMillis): Answer {
    const book = this.#bookOf(command.organizationId);
    if (book.state === "MOVING" || book.state === "MOVED") return refused({ reason: "BOOK_MOVING" });
    if (book.isSuspended && !holdsInSuspension(command)) return refused({ reason: "ORGANIZATION_SUSPENDED" });
    const behindMillis = book.lastRecordedAt - clock;
    if (behindMillis > BEHIND_MILLIS_MAX) return refused({ reason: "CLOCK_BEHIND", behindMillis });

    this.#clock = clock;
    this.#now = clock > book.lastRecordedAt ? clock : book.lastRecordedAt;
    // Most commands with an effect are one row of the book.
    this.#payments.rows = 1;
    const answer = this.#answerTo(command);
    for (const id of this.transactions.keys()) if (!this.#acceptedAt.has(id)) this.#acceptedAt.set(id, this.#now);
    if (answer.kind === "done" && !answer.replayed && this.#payments.rows > 0) {
      book.lastSeq += this.#payments.rows;
      book.lastRecordedAt = this.#now;
    }
    return answer;
  }

  state(organizationId: OrganizationId): State {
    return {
      accounts: this.#own(organizationId, this.accounts).map(seen),
      transactions: this.#own(organizationId, this.transactions).map(seen),
      deposits: this.#own(organizationId, this.deposits).map(seenDeposit),
      book: { ...this.#bookOf(organizationId) },
      limits: this.#limits.state(
        organizationId,
        [...this.accounts.values()].filter((account) => account.organizationId === organizationId),
        this.#bookOf(organizationId).lastRecordedAt,
      ),
    };
  }

  /** The newest first. */
  #own<Row extends { organizationId: OrganizationId }>(wanted: OrganizationId, rows: ReadonlyMap<unknown, Row>): Row[] {
    return [...rows.values()].filter(({ organizationId }) => organizationId === wanted).reverse();
  }

  #bookOf(organizationId: OrganizationId): ModelBook {
    const book = this.#books.get(organizationId);
    if (book === undefined) throw new Error(`the model has no book of ${organizationId}`);
    return book;
  }

  #answerTo(command: Command): Answer {
    if (!isModelled(command)) throw new Error(`the model knows no ${command.name}`);
    switch (command.name) {
      case "createAccount":
        return this.#createAccount(command);
      case "mint":
      case "redeem":
        return this.#moveMoney(command);
      case "reverseTransaction":
        if ("authority" in command) throw new Error("operators' acts have tests of their own");
        return this.#reverseTransaction(command);
      case "cancelTransaction":
        return this.#cancelTransaction(command);
      case "freezeAccount":
        return this.#freezeAccount(command);
      case "unfreezeAccount":
        return this.#unfreezeAccount(command);
      case "closeAccount":
        return this.#closeAccount(command);
      case "updateAccount":
        return this.#updateAccount(command);
      case "eraseAccount":
        return this.#eraseAccount(command);
      case "setAccountTier":
        return this.#setAccountTier(command);
      case "setLimits":
        return this.#setLimits(command);
      case "beginPayment":
        return this.#payments.begin(command);
      case "acceptPayment":
      case "postponePayment":
        return this.#payments.advance(command);
      case "completePayment":
        return this.#payments.complete(command);
      case "failPayment":
        return this.#payments.fail(command);
      case "flagTransaction":
        return this.#payments.flag(command);
      case "clearFlag":
        return this.#payments.clearFlag(command);
      case "releaseTransaction":
      case "refuseTransaction":
        return this.#payments.decideHeld(command);
      case "resolveTransaction":
        return this.#payments.resolve(command);
      case "coverShortfall":
      case "recoverShortfall":
      case "allocate":
      case "returnUnallocated":
      case "bookReceipt":
      case "bookPayment":
      case "adjustMovement":
      case "explainTransfer":
      case "fundCharges":
        return this.#payments.correct(command);
      case "recordCharge":
        return this.#payments.recordCharge(command);
      case "receiveDeposit":
        return this.#deposits.receive(command, readDepositReference(command.typedReference));
      case "recordDeposit":
      case "assignDeposit":
      case "unassignDeposit":
      case "returnDeposit":
      case "reverseDeposit":
        return this.#deposits.act(command);
      case "endReturn":
        return this.#deposits.endReturn(command);
      case "recordDeposits":
      case "resolveTransactions":
      case "decideCheck":
        throw new Error(`${command.name} has tests of its own`);
    }
  }

  /** What waits for a second person in the book of the organization, the newest last. */
  waiting(organizationId: OrganizationId): ReturnType<PaymentsModel["waiting"]> {
    return this.#payments.waiting(organizationId);
  }

  #createAccount(command: CreateAccount): Answer {
    const { newAccountId: id, organizationId, userId, phoneNumber, email } = command;
    const content = { user_id: userId, phone_number: phoneNumber, email };
    return this.#once(command, `user ${userId}`, content, () => {
      const balances = { availableCents: cents(0), heldCents: cents(0) };
      const person = { userId, phoneNumber, email };
      const account: ModelAccount = {
        id,
        organizationId,
        person,
        status: "ACTIVE",
        ...balances,
        openPayments: 0,
        tier: "default" as ModelAccount["tier"],
        depositReference: this.#freeNumber(command),
        freezes: [],
        phoneNumberChangedAt: undefined,
        emailChangedAt: undefined,
      };
      this.accounts.set(id, account);
      return account;
    });
  }

  #freeNumber({ organizationId, depositReferences }: CreateAccount) {
    const taken = this.#own(organizationId, this.accounts).map(({ depositReference }) => depositReference);
    return depositReferences.find((each) => !taken.includes(each));
  }

  #moveMoney(command: MoveMoney): Answer {
    const { newTransactionId: id, organizationId, accountId, amountCents, reference, description, rail } = command;
    const type = command.name === "mint" ? "MINT" : "REDEEM";
    const content = { type, account_id: accountId, amount: String(amountCents), reference, description };
    return this.#once(command, `reference ${reference}`, content, () => {
      const account = this.accounts.get(accountId);
      if (account?.organizationId !== organizationId) return { reason: "ACCOUNT_NOT_FOUND", accountId };
      const named = { id, organizationId, accountId, reference, description };
      const { receipt, railTerms } = command;
      return this.#move(account, { ...named, type, amountCents, rail, corrects: undefined }, { receipt, railTerms });
    });
  }

  #reverseTransaction(command: ReverseTransaction): Answer {
    const { newTransactionId: id, organizationId, transactionId, description } = command;
    const reference = `kesc:reverse:${transactionId}` as Transaction["reference"];
    return this.#once(command, `reference ${reference}`, { corrects: transactionId, description }, () => {
      const original = this.transactions.get(transactionId);
      if (original?.organizationId !== organizationId) return { reason: "TRANSACTION_NOT_FOUND", transactionId };
      const { accountId, amountCents, rail } = original;
      const notReversible = { reason: "TRANSACTION_NOT_REVERSIBLE", transactionId } as const;
      if (original.corrects?.kind === "REVERSAL") return { ...notReversible, cause: "IS_REVERSAL" };
      if (original.depositId !== undefined) return { ...notReversible, cause: "DEPOSIT" };
      if (original.status !== "COMPLETED") return { ...notReversible, cause: "NOT_COMPLETED" };
      if (rail !== "direct") return { ...notReversible, cause: "OTHER_RAIL" };
      const account = this.accounts.get(accountId);
      if (account === undefined) throw new Error(`the model has no account ${accountId}`);
      const type = original.type === "MINT" ? "REDEEM" : "MINT";
      const named = { id, organizationId, accountId, reference, description };
      const corrects = { kind: "REVERSAL", transactionId } as const;
      const reversal = this.#move(account, { ...named, type, amountCents, rail, corrects });
      if (!("reason" in reversal)) {
        original.reversedById = id;
        this.#limits.takeBack(transactionId);
      }
      return reversal;
    });
  }

  /** Moves the money of a new transaction, now or on hold. */
  #move(
    account: ModelAccount,
    given: Pick<
      ModelTransaction,
      "id" | "organizationId" | "accountId" | "type" | "amountCents" | "reference" | "description" | "rail" | "corrects"
    >,
    { receipt, railTerms: terms }: Pick<MoveMoney, "receipt" | "railTerms"> = {},
  ): ModelTransaction | Refusal {
    const { organizationId, accountId, type, amountCents, rail } = given;
    if (account.status === "CLOSED") return { reason: "ACCOUNT_CLOSED", accountId };
    if (account.status === "FROZEN") return { reason: "ACCOUNT_FROZEN", accountId };

    const completed = rail === "direct";
    const moved: number = amountCents;
    const claimed =
      receipt === undefined || type === "REDEEM"
        ? undefined
        : this.#deposits.claimedBy(organizationId, receipt, amountCents);
    const used = receipt === undefined ? undefined : this.#payments.usedReceipt(organizationId, receipt);
    if (claimed === undefined && used !== undefined) return used;
    if (!completed && account.person === undefined) return { reason: "PHONE_NUMBER_MISSING", accountId };
    const { availableCents, heldCents } = account;
    const { sums } = this.#bookOf(organizationId);
    if (type === "MINT" && availableCents + heldCents + amountCents > CENTS_MAX) {
      return { reason: "LIMIT_EXCEEDED", accountId, limitCents: CENTS_MAX };
    }
    if (type === "MINT" && amountCents > SUM_CENTS_MAX - Math.max(sums.reserve, sums.available)) {
      return { reason: "LIMIT_EXCEEDED", accountId: undefined, limitCents: SUM_CENTS_MAX };
    }
    if (type === "REDEEM" && availableCents < amountCents) {
      return { reason: "INSUFFICIENT_FUNDS", availableCents, requestedCents: amountCents };
    }

    const isLinked = given.corrects !== undefined;
    const beyond = isLinked ? undefined : this.#limits.refusal(account, given, this.#now);
    if (beyond !== undefined) return beyond;

    if (claimed !== undefined) return this.#deposits.credit(claimed, given);
    const phoneNumber = account.person?.phoneNumber;
    const payment =
      terms === undefined || phoneNumber === undefined
        ? undefined
        : ({
            state: "READY",
            number: phoneNumber,
            maskedNumber: maskPhone(phoneNumber),
            railReference: undefined,
            sends: 0,
            turnedAway: 0,
          } as const);
    const refusal = terms && this.#refusalOfRail(account, given, terms);
    if (refusal !== undefined) return refusal;

    const isHeldOrder = type === "REDEEM" && !completed;
    const { phoneNumberChangedAt = 0, emailChangedAt = 0 } = account;
    const isChanged = Math.max(phoneNumberChangedAt, emailChangedAt) + 7 * 86_400_000 > this.#clock;
    const facts = { isFirst: this.#isFirst(account), isChanged };
    const heldFor = isHeldOrder ? this.#limits.holds(account, given, facts, this.#now) : [];
    if (heldFor.length > 0) this.#payments.rows = 2;
    const book = this.#bookOf(organizationId);
    if (type === "MINT" && completed) post(book, account, { reserve: moved, available: moved });
    if (type === "REDEEM" && completed) post(book, account, { reserve: -moved, available: -moved });
    if (type === "REDEEM" && !completed) post(book, account, { available: -moved, held: moved });
    if (payment !== undefined) account.openPayments += 1;
    const transaction: ModelTransaction = {
      ...given,
      ...NO_REPORT,
      heldFor,
      payment,
      status: completed ? "COMPLETED" : "PENDING",
      railReceipt: receipt,
      depositId: undefined,
      reversedById: undefined,
      availableAfterCents: completed ? account.availableCents : undefined,
    };
    this.transactions.set(given.id, transaction);
    if (receipt !== undefined) this.#payments.note(organizationId, receipt, given.id);
    if (!isLinked) this.#limits.accept(transaction, this.#now);
    return transaction;
  }

  /** Whether a rail has paid nothing to the number that the account has now. */
  #isFirst({ id, phoneNumberChangedAt: changedAt = toUnixMillis(0) }: ModelAccount): boolean {
    return [...this.transactions.values()].every(
      ({ accountId, type, status, rail, depositId, corrects, id: transactionId }) =>
        accountId !== id ||
        corrects !== undefined ||
        type !== "REDEEM" ||
        status !== "COMPLETED" ||
        rail === "direct" ||
        depositId !== undefined ||
        (this.#acceptedAt.get(transactionId) ?? 0) < changedAt,
    );
  }

  #refusalOfRail(
    { id: accountId, phoneNumberChangedAt: changedAt }: ModelAccount,
    { type, amountCents }: Pick<ModelTransaction, "type" | "amountCents">,
    { payable, phoneCoolingMillis }: RailTerms,
  ): Refusal | undefined {
    const { minCents, maxCents, stepCents } = payable;
    if (amountCents < minCents || amountCents > maxCents || amountCents % stepCents !== 0) {
      // Only multiples of the step from the smallest to the largest one are payable.
      const below = Math.min(amountCents, maxCents);
      const above = Math.max(amountCents, minCents);
      const belowCents = below - (below % stepCents);
      const aboveCents = Math.ceil(above / stepCents) * stepCents;
      const nearest = {
        belowCents: belowCents >= minCents ? cents(belowCents) : undefined,
        aboveCents: aboveCents <= maxCents ? cents(aboveCents) : undefined,
      };
      return { reason: "AMOUNT_NOT_PAYABLE", payable, nearest };
    }
    if (type === "MINT" || changedAt === undefined) return undefined;
    const until = toUnixMillis(changedAt + phoneCoolingMillis);
    return this.#clock < until ? { reason: "PHONE_NUMBER_COOLING", accountId, until } : undefined;
  }

  #cancelTransaction({ organizationId, transactionId }: CancelTransaction): Answer {
    const transaction = this.transactions.get(transactionId);
    if (transaction?.organizationId !== organizationId) {
      return refused({ reason: "TRANSACTION_NOT_FOUND", transactionId });
    }
    const { status: from, type, accountId, amountCents } = transaction;
    if (from === "CANCELED") return done(transaction, { replayed: true });
    if (from !== "PENDING") return refused({ reason: "INVALID_TRANSITION", from, to: "CANCELED" });

    const account = this.accounts.get(accountId);
    if (account !== undefined && type === "REDEEM") {
      const moved: number = amountCents;
      post(this.#bookOf(organizationId), account, { available: moved, held: -moved });
    }
    this.#payments.canceled(transaction);
    this.#limits.takeBack(transactionId);
    return done(transaction, { replayed: false });
  }

  #setAccountTier({ organizationId, accountId, tier }: SetAccountTier): Answer {
    const account = this.accounts.get(accountId);
    if (account?.organizationId !== organizationId) return refused({ reason: "ACCOUNT_NOT_FOUND", accountId });
    if (account.status === "CLOSED") return refused({ reason: "ACCOUNT_CLOSED", accountId });
    const replayed = account.tier === tier;
    account.tier = tier;
    return done(account, { replayed });
  }

  #setLimits(command: SetLimits): Answer {
    const book = this.#bookOf(command.organizationId);
    const set = this.#limits.set(command, { now: this.#now, lastRecordedAt: book.lastRecordedAt });
    if (typeof set === "object") return refused(set);
    if (set !== "same") this.#now = set;
    return done(book, { replayed: set === "same" });
  }

  #freezeAccount(command: FreezeAccount): Answer {
    const { newFreezeId: id, organizationId, accountId, reason, note, idempotencyKey } = command;
    const content = { account_id: accountId, reason, note };
    const key = idempotencyKey === undefined ? undefined : `${organizationId} key ${idempotencyKey}`;
    const account = this.accounts.get(accountId);
    if (key !== undefined && this.#made.has(key)) return refused({ reason: "IDEMPOTENCY_KEY_REUSED" });
    const keyed = key === undefined ? undefined : this.#keyedFreezes.get(key);
    if (keyed !== undefined) {
      return differing(content, keyed.content).length === 0 && account !== undefined
        ? done({ ...account, freeze: keyed.freeze }, { replayed: true })
        : refused({ reason: "IDEMPOTENCY_KEY_REUSED" });
    }
    if (account?.organizationId !== organizationId) return refused({ reason: "ACCOUNT_NOT_FOUND", accountId });
    if (account.status === "CLOSED") return refused({ reason: "ACCOUNT_CLOSED", accountId });
    if (account.freezes.length === FREEZES_MAX) {
      return refused({ reason: "TOO_MANY_FREEZES", accountId, limit: FREEZES_MAX });
    }
    const freeze = { id, organizationId, accountId, reason, note, isLifted: false };
    this.freezes.set(id, freeze);
    if (key !== undefined) this.#keyedFreezes.set(key, { freeze, content });
    this.#followFreezes(account);
    return done({ ...account, freeze }, { replayed: false });
  }

  #unfreezeAccount({ organizationId, accountId, freezeId }: UnfreezeAccount): Answer {
    const account = this.accounts.get(accountId);
    if (account?.organizationId !== organizationId) return refused({ reason: "ACCOUNT_NOT_FOUND", accountId });
    const freeze = this.freezes.get(freezeId);
    if (freeze?.accountId !== accountId) return refused({ reason: "FREEZE_NOT_FOUND", freezeId });
    if (freeze.isLifted) return done({ ...account, freeze }, { replayed: true });
    freeze.isLifted = true;
    this.#followFreezes(account);
    return done({ ...account, freeze }, { replayed: false });
  }

  /** An account is frozen while a freeze stands. */
  #followFreezes(account: ModelAccount): void {
    account.freezes = [...this.freezes.values()].filter((each) => each.accountId === account.id && !each.isLifted);
    account.status = account.freezes.length > 0 ? "FROZEN" : "ACTIVE";
  }

  #closeAccount({ organizationId, accountId }: CloseAccount): Answer {
    const account = this.accounts.get(accountId);
    if (account?.organizationId !== organizationId) return refused({ reason: "ACCOUNT_NOT_FOUND", accountId });
    const { status: from, availableCents, heldCents } = account;
    if (from === "CLOSED") return done(account, { replayed: true });
    if (from === "FROZEN") return refused({ reason: "INVALID_TRANSITION", from, to: "CLOSED" });
    if (availableCents + heldCents > 0) {
      return refused({ reason: "ACCOUNT_NOT_EMPTY", accountId, availableCents, heldCents });
    }
    const { openPayments } = account;
    if (openPayments > 0) return refused({ reason: "ACCOUNT_HAS_OPEN_TRANSACTIONS", accountId, openPayments });
    account.status = "CLOSED";
    this.#freeUser(account);
    return done(account, { replayed: false });
  }

  #updateAccount({ organizationId, accountId, phoneNumber, email }: UpdateAccount): Answer {
    const account = this.accounts.get(accountId);
    if (account?.organizationId !== organizationId) return refused({ reason: "ACCOUNT_NOT_FOUND", accountId });
    const { person, status } = account;
    if (person === undefined) return refused({ reason: "ACCOUNT_ERASED", accountId });
    if (status === "CLOSED") return refused({ reason: "ACCOUNT_CLOSED", accountId });
    const changed = { ...person, phoneNumber: phoneNumber ?? person.phoneNumber, email: email ?? person.email };
    const isSame = changed.phoneNumber === person.phoneNumber && changed.email === person.email;
    if (isSame) return done(account, { replayed: true });
    if (changed.phoneNumber !== person.phoneNumber) account.phoneNumberChangedAt = this.#now;
    if (changed.email !== person.email) account.emailChangedAt = this.#now;
    account.person = changed;
    // A repeat has the present values, or is refused.
    const now = { phone_number: changed.phoneNumber, email: changed.email };
    for (const [name, { resource, content }] of this.#made) {
      if (resource === account) this.#made.set(name, { resource, content: { ...content, ...now } });
    }
    return done(account, { replayed: false });
  }

  /** The next account of the user is a new one. */
  #freeUser(account: ModelAccount): void {
    const name = `${account.organizationId} user ${account.person?.userId ?? ""}`;
    if (this.#made.get(name)?.resource === account) this.#made.delete(name);
  }

  #eraseAccount({ organizationId, accountId }: EraseAccount): Answer {
    const account = this.accounts.get(accountId);
    if (account?.organizationId !== organizationId) return refused({ reason: "ACCOUNT_NOT_FOUND", accountId });
    const { person, availableCents, heldCents } = account;
    if (person === undefined) return done(account, { replayed: true });
    if (availableCents + heldCents > 0) {
      return refused({ reason: "ACCOUNT_NOT_EMPTY", accountId, availableCents, heldCents });
    }
    const { openPayments } = account;
    if (openPayments > 0) return refused({ reason: "ACCOUNT_HAS_OPEN_TRANSACTIONS", accountId, openPayments });
    // The user_id is free again. A key that made the account names it for ever, and now no content
    // equals that of its first call.
    this.#freeUser(account);
    account.person = undefined;
    account.phoneNumberChangedAt = undefined;
    for (const [name, { resource }] of this.#made) {
      if (resource === account) this.#made.set(name, { resource, content: {} });
    }
    return done(account, { replayed: false });
  }

  /**
   * Looks for an earlier command by its idempotency key first, then by its natural key; makes only
   * what is new.
   */
  #once(
    { organizationId, idempotencyKey }: CreateAccount | MoveMoney | ReverseTransaction,
    naturalKey: string,
    content: Content,
    make: () => Made["resource"] | Refusal,
  ): Answer {
    const key = idempotencyKey === undefined ? undefined : `${organizationId} key ${idempotencyKey}`;
    if (key !== undefined && this.#keyedFreezes.has(key)) return refused({ reason: "IDEMPOTENCY_KEY_REUSED" });
    const keyed = key === undefined ? undefined : this.#made.get(key);
    if (keyed !== undefined) {
      return differing(content, keyed.content).length === 0
        ? done(keyed.resource, { replayed: true })
        : refused({ reason: "IDEMPOTENCY_KEY_REUSED" });
    }
    const named = this.#made.get(`${organizationId} ${naturalKey}`);
    if (named !== undefined) {
      const differingFields = differing(content, named.content);
      if (differingFields.length > 0) return refused(takenBy(named.resource, differingFields));
      if (key !== undefined) this.#made.set(key, named);
      return done(named.resource, { replayed: true });
    }

    const resource = make();
    if ("reason" in resource) return refused(resource);
    for (const name of [key, `${organizationId} ${naturalKey}`]) {
      if (name !== undefined) this.#made.set(name, { resource, content });
    }
    return done(resource, { replayed: false });
  }
}

function takenBy(resource: Made["resource"], differingFields: readonly string[]): Refusal {
  if ("person" in resource) return { reason: "ACCOUNT_ALREADY_EXISTS", accountId: resource.id, differingFields };
  const { id, corrects } = resource;
  if (corrects === undefined) return { reason: "REFERENCE_ALREADY_USED", transactionId: id, differingFields };
  const { transactionId } = corrects;
  return { reason: "TRANSACTION_ALREADY_REVERSED", transactionId, reversedById: id, differingFields };
}

function differing(content: Content, earlier: Content): string[] {
  return Object.keys({ ...content, ...earlier }).filter((field) => content[field] !== earlier[field]);
}
