import type { BookSums } from "../../../src/domain/book.js";
import type { CorrectBook } from "../../../src/domain/book/correct-book.js";
import type { ReceiveDeposit } from "../../../src/domain/deposits/receive-deposit.js";
import { BOOK_ACCOUNTS } from "../../../src/domain/journal.js";
import type { AdvancePayment } from "../../../src/domain/orders/advance-payment.js";
import type { BeginPayment } from "../../../src/domain/orders/begin-payment.js";
import type { ClearFlag } from "../../../src/domain/orders/clear-flag.js";
import type { CompletePayment } from "../../../src/domain/orders/complete-payment.js";
import type { FailPayment } from "../../../src/domain/orders/fail-payment.js";
import type { FlagTransaction } from "../../../src/domain/orders/flag-transaction.js";
import type { RefuseTransaction, ReleaseTransaction } from "../../../src/domain/orders/release-transaction.js";
import type { ResolveTransaction } from "../../../src/domain/orders/resolve-transaction.js";
import type { FailureReason, FlagReason, RailReceipt } from "../../../src/domain/payment.js";
import type { RecordCharge } from "../../../src/domain/rails/record-charge.js";
import type { Refusal } from "../../../src/domain/refusal.js";
import type { Transaction } from "../../../src/domain/transaction.js";
import type { AccountId, DepositId, OrganizationId, TransactionId } from "../../../src/domain/values/ids.js";
import { RAIL_TERMS } from "../../support/names.js";
import {
  type Answer,
  CENTS_MAX,
  done,
  type ModelAccount,
  type ModelBook,
  type ModelPayment,
  type ModelTransaction,
  NO_REPORT,
  post,
  refused,
  type SeenProposal,
  SUM_CENTS_MAX,
} from "./rows.js";

// The rules of docs/adr/0038 in the plainest code, as model.ts has those of docs/api.md.

/** What the model of everything else has. */
export interface Shared {
  readonly accounts: ReadonlyMap<AccountId, ModelAccount>;
  readonly transactions: Map<TransactionId, ModelTransaction>;
  bookOf(organizationId: OrganizationId): ModelBook;
  /** The time of the command. */
  now(): number;
  /** The sum of the deposits that wait for a person. */
  unallocatedDepositCents(organizationId: OrganizationId): number;
  /** The transaction counts no longer against the limits. */
  takeBack(id: TransactionId): void;
}

const PROPOSED: SeenProposal = { isProposed: true };

interface StandingProposal {
  readonly content: string;
  readonly person: string;
  readonly isDone: boolean;
  readonly at: number;
  readonly command: ResolveTransaction | CorrectBook;
}

interface Order {
  readonly transaction: ModelTransaction;
  readonly account: ModelAccount;
  readonly payment: ModelPayment;
}

type Ended = "COMPLETED" | "FAILED" | "CANCELED";

export class PaymentsModel {
  /** How many rows of the book the last command has made. */
  rows = 0;
  readonly #shared: Shared;
  /** Who has a receipt: a transaction, a deposit, or a correction of the book. */
  readonly #receipts = new Map<string, TransactionId | DepositId | undefined>();
  /** When the ledger last allowed to ask the rail. */
  readonly #askedAt = new Map<TransactionId, number>();
  readonly #proposals = new Map<string, StandingProposal>();

  constructor(shared: Shared) {
    this.#shared = shared;
  }

  begin({ organizationId, transactionId, railRevision, isAgain = false }: BeginPayment): Answer {
    this.rows = 0;
    const order = this.#order(organizationId, transactionId);
    if (order === undefined) return notFound(transactionId);
    const { transaction, account, payment } = order;
    const { status: from } = transaction;
    const state = isAgain ? "SENDING" : "READY";
    const mustNot = transaction.type === "MINT" && (isAgain || payment.turnedAway > 1);
    const isHeld = transaction.heldFor.length > 0;
    if (payment.state !== state || isHeld || mustNot || hasMoved(transaction)) {
      return refused({ reason: "INVALID_TRANSITION", from, to: "PROCESSING" });
    }
    if (this.#shared.bookOf(organizationId).state === "RESTORED") return refused({ reason: "BOOK_RESTORED" });
    if (account.status === "FROZEN") return refused({ reason: "ACCOUNT_FROZEN", accountId: account.id });
    // No organization of the model has an account at a rail.
    if (railRevision !== 0) return refused({ reason: "RAIL_ACCOUNT_CHANGED" });
    payment.state = "SENDING";
    payment.sends += 1;
    this.#askedAt.set(transactionId, this.#shared.now());
    if (from === "PENDING") this.rows = 1;
    transaction.status = "PROCESSING";
    return done(transaction, { replayed: false });
  }

  advance(command: AdvancePayment): Answer {
    this.rows = 0;
    const order = this.#order(command.organizationId, command.transactionId);
    if (order === undefined) return notFound(command.transactionId);
    const { transaction, payment } = order;
    const before = { ...payment };
    if (command.name === "postponePayment" && payment.state === "SENDING" && payment.sends === command.sends) {
      payment.state = "READY";
      payment.turnedAway += Number(command.isTurnedAway);
    }
    if (command.name === "acceptPayment" && payment.sends > 0 && payment.state !== "ENDED") {
      payment.state = "ACCEPTED";
      payment.railReference ??= command.railReference;
    }
    const isSame = before.state === payment.state && before.railReference === payment.railReference;
    return done(transaction, { replayed: isSame });
  }

  complete(command: CompletePayment): Answer {
    this.rows = 0;
    const { organizationId, movement, receipt } = command;
    const order = this.#order(organizationId, command.transactionId);
    if (order === undefined) return notFound(command.transactionId);
    const { transaction } = order;
    const all = [transaction, ...this.#late(transaction)];

    const receiptName = `${organizationId} ${String(receipt)}`;
    if (receipt !== undefined && this.#receipts.has(receiptName)) {
      const owner = all.find(({ id }) => id === this.#receipts.get(receiptName));
      if (owner === undefined) return this.#flag(transaction, "RECEIPT_ALREADY_USED");
      return agrees(command, owner) ? done(owner, { replayed: true }) : this.#flag(transaction, "REPORT_DIFFERS");
    }
    const everybody = [...this.#shared.transactions.values()].filter((each) => each.organizationId === organizationId);
    const moved = movement === undefined ? undefined : everybody.find((each) => each.railMovement === movement);
    if (moved !== undefined) {
      return all.includes(moved) ? this.#again(order, moved, command) : this.#flag(transaction, "RECEIPT_ALREADY_USED");
    }
    const halves = all.filter((each) => {
      const [hasMovement, hasReceipt] = [each.railMovement !== undefined, each.railReceipt !== undefined];
      if (movement === undefined) return hasMovement && !hasReceipt;
      return receipt === undefined && hasReceipt && !hasMovement;
    });
    const half = halves.find((each) => agrees(command, each)) ?? halves[0];
    if (half !== undefined) return this.#again(order, half, command);
    return this.#completeByStatus(order, command);
  }

  fail({ organizationId, transactionId, failure, sends }: FailPayment): Answer {
    this.rows = 0;
    const order = this.#order(organizationId, transactionId);
    if (order === undefined) return notFound(transactionId);
    const { transaction, payment } = order;
    const { status: from } = transaction;
    if (from === "FAILED" || from === "CANCELED") return done(transaction, { replayed: true });
    if (sends !== undefined && sends !== payment.sends) return done(transaction, { replayed: true });
    if (failure === "EXPIRED" && (payment.state !== "READY" || transaction.heldFor.length > 0)) {
      return refused({ reason: "INVALID_TRANSITION", from, to: "FAILED" });
    }
    if (failure === "EXPIRED" && this.#shared.bookOf(organizationId).state === "RESTORED") {
      return refused({ reason: "BOOK_RESTORED" });
    }
    if (from === "COMPLETED") return this.#flag(transaction, "FAILED_AFTER_COMPLETION");
    if (hasMoved(transaction)) return this.#flag(transaction, "REPORT_DIFFERS");
    this.#fail(order, failure);
    if (failure === "EXPIRED" && payment.turnedAway > 0) this.#flag(transaction, "OUTCOME_UNKNOWN");
    return done(transaction, { replayed: false });
  }

  /** Nobody has asked for what a key has asked for, so any person decides. */
  decideHeld({ name, organizationId, transactionId }: ReleaseTransaction | RefuseTransaction): Answer {
    this.rows = 0;
    const order = this.#order(organizationId, transactionId);
    if (order === undefined) {
      return this.#own(organizationId, transactionId) === undefined
        ? notFound(transactionId)
        : refused({ reason: "PAYMENT_NOT_FOUND", transactionId });
    }
    const { transaction } = order;
    const { status: from, failure, heldFor } = transaction;
    const isRelease = name === "releaseTransaction";
    if (heldFor.length === 0) {
      const isOver = from === "FAILED" || from === "CANCELED";
      if (isRelease ? !isOver : failure === "REFUSED_BY_OPERATOR") return done(transaction, { replayed: true });
      return isOver || from === "COMPLETED"
        ? refused({ reason: "TRANSACTION_ALREADY_ENDED", transactionId, status: from })
        : refused({ reason: "INVALID_TRANSITION", from, to: "FAILED" });
    }
    if (isRelease) {
      transaction.heldFor = [];
      this.rows = 1;
    } else this.#fail(order, "REFUSED_BY_OPERATOR");
    return done(transaction, { replayed: false });
  }

  flag({ organizationId, transactionId, flag }: FlagTransaction): Answer {
    this.rows = 0;
    const transaction = this.#own(organizationId, transactionId);
    return transaction === undefined ? notFound(transactionId) : this.#flag(transaction, flag);
  }

  clearFlag({ organizationId, transactionId, flag }: ClearFlag): Answer {
    this.rows = 0;
    const transaction = this.#own(organizationId, transactionId);
    if (transaction === undefined) return notFound(transactionId);
    const { status: from, openFlags, payment, corrects } = transaction;
    if (payment === undefined && corrects?.kind !== "LATE") {
      return refused({ reason: "PAYMENT_NOT_FOUND", transactionId });
    }
    if (from === "PROCESSING") return refused({ reason: "TRANSACTION_STILL_OPEN", transactionId });
    if (!openFlags.includes(flag)) return done(transaction, { replayed: true });
    transaction.openFlags = openFlags.filter((open) => open !== flag);
    this.rows = 1;
    return done(transaction, { replayed: false });
  }

  resolve(command: ResolveTransaction): Answer {
    this.rows = 0;
    const { organizationId, transactionId, resolution, authority } = command;
    const { person } = authority;
    const order = this.#order(organizationId, transactionId);
    if (order === undefined) {
      return this.#own(organizationId, transactionId) === undefined
        ? notFound(transactionId)
        : refused({ reason: "PAYMENT_NOT_FOUND", transactionId });
    }
    const { transaction, payment } = order;
    const { status: from, amountCents } = transaction;
    const to = resolution.kind === "COMPLETED" ? "COMPLETED" : "FAILED";
    if (from !== "PROCESSING") {
      if (from === "PENDING") return refused({ reason: "INVALID_TRANSITION", from, to });
      const same = this.#resolvedAs(transaction, resolution);
      return same === undefined
        ? refused({ reason: "TRANSACTION_ALREADY_ENDED", transactionId, status: from })
        : done(same, { replayed: true });
    }
    const isAsked =
      payment.state === "SENDING" && this.#shared.now() - (this.#askedAt.get(transactionId) ?? 0) < 60_000;
    if (isAsked && resolution.kind === "FAILED") return refused({ reason: "INVALID_TRANSITION", from, to });
    if (resolution.kind !== "FAILED") {
      const used = this.usedReceipt(organizationId, resolution.receipt);
      if (used !== undefined) return refused(used);
    }
    const incoming = resolution.kind === "MOVED" ? resolution.amountCents : amountCents;
    const canBook = transaction.type === "REDEEM" || this.#canBook(order, "MINT", incoming);
    if (resolution.kind !== "FAILED" && !canBook) {
      return refused({ reason: "LIMIT_EXCEEDED", accountId: undefined, limitCents: SUM_CENTS_MAX });
    }
    // A flag is part of what a second person decides about.
    const content = JSON.stringify([resolution, transaction.openFlags]);
    const before = this.#proposals.get(transactionId);
    const isSame = before?.content === content;
    // No organization of the model has an account at a rail, so nobody decides alone.
    if (!(isSame && before.person.toLowerCase() !== person.toLowerCase())) {
      if (isSame) return done(PROPOSED, { replayed: true });
      this.#proposals.set(transactionId, { content, person, isDone: false, command, at: this.#shared.now() });
      this.rows = 1;
      return done(PROPOSED, { replayed: false });
    }
    switch (resolution.kind) {
      case "COMPLETED":
        this.#complete(order, { movement: undefined, receipt: resolution.receipt });
        break;
      case "FAILED":
        this.#fail(order, "RESOLVED_BY_OPERATOR");
        break;
      case "MOVED": {
        this.#fail(order, "REPORT_DIFFERS");
        const { newTransactionId: id } = command.facts;
        const proof = { movement: undefined, receipt: resolution.receipt };
        this.#moveLate(order, { id, ...proof, amountCents: resolution.amountCents });
      }
    }
    // The last row names the proposal.
    this.rows += 1;
    return done(transaction, { replayed: false });
  }

  correct(command: CorrectBook): Answer {
    this.rows = 0;
    const { organizationId, idempotencyKey, name, amountCents, authority } = command;
    const { person } = authority;
    const book = this.#shared.bookOf(organizationId);
    const { accountId, receipt, movement, direction } = { ...NO_TARGETS, ...command };
    const content = JSON.stringify([name, amountCents, accountId, receipt, movement, direction]);
    const subject = `${organizationId} ${idempotencyKey}`;
    const before = this.#proposals.get(subject);
    // A key proposes a resolution for ever, an operator a correction for three days.
    const isSame = before?.content === content && (before.isDone || this.#shared.now() - before.at < 259_200_000);
    if (before?.isDone === true) {
      return isSame ? done(book, { replayed: true }) : refused({ reason: "IDEMPOTENCY_KEY_REUSED" });
    }
    const refusal = this.#refusalToCorrect(command, book.sums);
    if (refusal !== undefined) return refused(refusal);
    if (!(isSame && before.person.toLowerCase() !== person.toLowerCase())) {
      if (isSame) return done(PROPOSED, { replayed: true });
      this.#proposals.set(subject, { content, person, isDone: false, command, at: this.#shared.now() });
      this.rows = 1;
      return done(PROPOSED, { replayed: false });
    }
    this.#proposals.set(subject, { content, person, isDone: true, command, at: this.#shared.now() });
    const account = accountId === undefined ? undefined : this.#shared.accounts.get(accountId);
    post(book, account, changesOf(command));
    if ("receipt" in command) this.#receipts.set(`${organizationId} ${command.receipt}`, undefined);
    // The second row names the proposal.
    this.rows = 2;
    return done(book, { replayed: false });
  }

  recordCharge({ organizationId, movement, direction, amountCents }: RecordCharge): Answer {
    this.rows = 0;
    const book = this.#shared.bookOf(organizationId);
    const receipt = `charge:${movement}` as RailReceipt;
    if (this.ownerOf(organizationId, receipt) !== undefined) return done(book, { replayed: true });
    const changes = chargesBy(direction, amountCents);
    if (!fits(book.sums, changes)) {
      return refused({ reason: "LIMIT_EXCEEDED", accountId: undefined, limitCents: SUM_CENTS_MAX });
    }
    post(book, undefined, changes);
    this.#receipts.set(`${organizationId} ${receipt}`, undefined);
    this.rows = 1;
    return done(book, { replayed: false });
  }

  /** What waits for a second person in the book of the organization, the newest last. */
  waiting(organizationId: OrganizationId): readonly (ResolveTransaction | CorrectBook)[] {
    return [...this.#proposals.values()]
      .filter(({ command, isDone }) => command.organizationId === organizationId && !isDone)
      .map(({ command }) => command);
  }

  /** Ends the payment of a transaction that somebody has canceled. */
  canceled(transaction: ModelTransaction): void {
    const order = this.#order(transaction.organizationId, transaction.id);
    if (order !== undefined) end(order, "CANCELED");
  }

  #refusalToCorrect(command: CorrectBook, sums: BookSums): Refusal | undefined {
    const { organizationId, amountCents } = command;
    const changes = changesOf(command);
    if ("accountId" in command && command.accountId !== undefined) {
      const { accountId } = command;
      const account = this.#shared.accounts.get(accountId);
      if (account?.organizationId !== organizationId) return { reason: "ACCOUNT_NOT_FOUND", accountId };
      const { status, availableCents, heldCents } = account;
      if (status === "CLOSED") return { reason: "ACCOUNT_CLOSED", accountId };
      const pays = (changes.available ?? 0) < 0;
      if (pays && status === "FROZEN") return { reason: "ACCOUNT_FROZEN", accountId };
      if (pays && availableCents < amountCents) {
        return { reason: "INSUFFICIENT_FUNDS", availableCents, requestedCents: amountCents };
      }
      if (!pays && availableCents + heldCents + amountCents > CENTS_MAX) {
        return { reason: "LIMIT_EXCEEDED", accountId, limitCents: CENTS_MAX };
      }
    }
    const used = "receipt" in command ? this.usedReceipt(organizationId, command.receipt) : undefined;
    if (used !== undefined) return used;
    if ("movement" in command && !this.#hasMovement(organizationId, command.movement)) {
      return { reason: "MOVEMENT_NOT_FOUND", movement: command.movement };
    }
    for (const bookAccount of ["shortfall", "unallocated"] as const) {
      // What belongs to a deposit goes by the deposit alone.
      const ofDeposits = bookAccount === "unallocated" ? this.#shared.unallocatedDepositCents(organizationId) : 0;
      const balanceCents = sums[bookAccount] - (changes[bookAccount] === undefined ? 0 : ofDeposits);
      if (balanceCents + Math.min(0, changes[bookAccount] ?? 0) >= 0) continue;
      return { reason: "BOOK_ACCOUNT_TOO_LOW", bookAccount, balanceCents, requestedCents: amountCents };
    }
    return fits(sums, changes)
      ? undefined
      : { reason: "LIMIT_EXCEEDED", accountId: undefined, limitCents: SUM_CENTS_MAX };
  }

  #hasMovement(organizationId: OrganizationId, movement: string): boolean {
    const transaction = this.#shared.transactions.get(movement as TransactionId);
    const isOfBook = transaction?.organizationId === organizationId && transaction.status === "COMPLETED";
    return isOfBook || this.#receipts.has(`${organizationId} ${movement}`);
  }

  usedReceipt(organizationId: OrganizationId, receipt: RailReceipt): Refusal | undefined {
    const owner = this.ownerOf(organizationId, receipt);
    if (owner === undefined) return undefined;
    const transactionId = owner.startsWith("txn_") ? (owner as TransactionId) : undefined;
    const depositId = owner.startsWith("dep_") ? (owner as DepositId) : undefined;
    return { reason: "RECEIPT_ALREADY_USED", receipt, transactionId, depositId };
  }

  /** Who has the receipt: "the book" if it belongs to a correction. */
  ownerOf(organizationId: OrganizationId, receipt: RailReceipt): string | undefined {
    const name = `${organizationId} ${receipt}`;
    return this.#receipts.has(name) ? (this.#receipts.get(name) ?? "the book") : undefined;
  }

  note(organizationId: OrganizationId, receipt: RailReceipt, owner: TransactionId | DepositId): void {
    this.#receipts.set(`${organizationId} ${receipt}`, owner);
  }

  /** What an order makes of shillings that the rail lists. Undefined if it cannot take them. */
  receive(command: ReceiveDeposit & { readonly orderId: TransactionId }): Answer | undefined {
    const { organizationId, orderId, receipt, amountCents, phone } = command;
    const order = this.#order(organizationId, orderId);
    if (order === undefined || order.transaction.type === "REDEEM") return undefined;
    // All orders of the model were given to one account at the rail.
    if (command.railAccountId !== RAIL_TERMS.railAccountId) return undefined;
    const { transaction, payment } = order;
    const all = [transaction, ...this.#late(transaction)];
    const known = all.flatMap(({ railReceipt }) => railReceipt ?? []);
    if (known.some((each) => !command.confirmedReceipts.includes(each))) return undefined;
    if (transaction.failure === "REPORT_DIFFERS") return undefined;
    const halves = all.filter(
      ({ railMovement, railReceipt }) => railMovement !== undefined && railReceipt === undefined,
    );
    const half = halves.find((each) => each.amountCents === amountCents);
    if (half !== undefined) {
      half.railReceipt = receipt;
      this.note(organizationId, receipt, half.id);
      this.rows = 1;
      return done(half, { replayed: false });
    }
    const isOpen = transaction.status === "PROCESSING";
    const hasEnded = transaction.status === "COMPLETED" || transaction.status === "FAILED";
    this.rows = 0;
    // Counted already, without a receipt: never a second time.
    if (halves.length > 0) return this.#flag(transaction, "REPORT_DIFFERS");
    if (!(isOpen || hasEnded)) return undefined;
    // Nor can the book hold a deposit.
    if (!this.#canBook(order, "MINT", amountCents)) return undefined;
    if (hasEnded) {
      const late = { id: command.newTransactionId, movement: undefined, receipt, amountCents };
      return done(this.#moveLate(order, late), { replayed: false });
    }
    const isSamePhone = phone === undefined || hides(phone, payment.number ?? "");
    if (!isSamePhone || amountCents !== transaction.amountCents) {
      // The shillings become a deposit, and only a person completes the order.
      const { sums } = this.#shared.bookOf(organizationId);
      if (fits(sums, { reserve: amountCents, unallocated: amountCents })) this.#flag(transaction, "REPORT_DIFFERS");
      return undefined;
    }
    this.#complete(order, { movement: undefined, receipt });
    return done(transaction, { replayed: false });
  }

  #completeByStatus(order: Order, command: CompletePayment): Answer {
    const { transaction, payment } = order;
    const { movement, receipt, amountCents, phone } = command;
    if (transaction.status === "PENDING" || transaction.status === "CANCELED") {
      return this.#flag(transaction, "REPORT_WITHOUT_ORDER");
    }
    if (transaction.status !== "PROCESSING") {
      const amount = amountCents ?? transaction.amountCents;
      if (!this.#canBook(order, transaction.type, amount)) return this.#flag(transaction, "NOT_CREDITED");
      const late = { id: command.newTransactionId, movement, receipt, amountCents: amount };
      return done(this.#moveLate(order, late), { replayed: false });
    }
    const isSamePhone = phone === undefined || hides(phone, payment.number ?? "");
    if (!agrees(command, transaction) || !isSamePhone) return this.#flag(transaction, "REPORT_DIFFERS");
    const isDoubted = transaction.openFlags.some((flag) => /^REPORT_DIFFERS$|^RECEIPT_/.test(flag));
    if (receipt === undefined || amountCents === undefined || phone === undefined) {
      if (isDoubted) return done(transaction, { replayed: true });
      if (command.isDenied === true) return this.#flag(transaction, "REPORT_DIFFERS");
    }
    if (transaction.type === "MINT" && !this.#canBook(order, "MINT", transaction.amountCents)) {
      return this.#flag(transaction, "NOT_CREDITED");
    }
    this.#complete(order, { movement, receipt });
    return done(transaction, { replayed: false });
  }

  /** A report about a movement that the transaction has already. */
  #again({ transaction: named }: Order, transaction: ModelTransaction, command: CompletePayment): Answer {
    const { receipt } = command;
    const { railReceipt } = transaction;
    const isOther = receipt !== undefined && railReceipt !== undefined && receipt !== railReceipt;
    if (isOther || !agrees(command, transaction)) return this.#flag(named, "REPORT_DIFFERS");
    if (receipt === undefined || railReceipt !== undefined) return done(transaction, { replayed: true });
    this.#receipts.set(`${transaction.organizationId} ${receipt}`, transaction.id);
    transaction.railReceipt = receipt;
    this.rows = 1;
    return done(transaction, { replayed: false });
  }

  #flag(transaction: ModelTransaction, flag: FlagReason): Answer {
    if (transaction.openFlags.includes(flag)) return done(transaction, { replayed: true });
    transaction.openFlags = [...transaction.openFlags, flag];
    this.rows += 1;
    return done(transaction, { replayed: false });
  }

  #fail(order: Order, failure: FailureReason): void {
    const { transaction, account } = order;
    const { type } = transaction;
    const amount: number = transaction.amountCents;
    if (type === "REDEEM") this.#post(account, { held: -amount, available: amount });
    transaction.failure = failure;
    end(order, "FAILED");
    this.#shared.takeBack(transaction.id);
    this.rows += 1;
  }

  #complete(order: Order, { movement, receipt }: Proof): void {
    const { transaction, account } = order;
    const { type } = transaction;
    const amount: number = transaction.amountCents;
    end(order, "COMPLETED");
    if (type === "REDEEM") this.#post(account, { held: -amount, reserve: -amount });
    this.#book(transaction, { movement, receipt });
    if (type === "MINT") this.#takeIn(account, transaction);
    transaction.availableAfterCents = account.availableCents;
  }

  /** Books a movement as a transaction of its own. */
  #moveLate(order: Order, given: Proof & Pick<Transaction, "id" | "amountCents">): ModelTransaction {
    const { account } = order;
    const { organizationId, accountId, type, rail, id: transactionId } = order.transaction;
    const { id, amountCents, movement, receipt } = given;
    const late: ModelTransaction = {
      ...NO_REPORT,
      id,
      organizationId,
      accountId,
      type,
      status: "COMPLETED",
      amountCents,
      reference:
        `kesc:late:${movement === undefined ? `receipt:${String(receipt)}` : `movement:${movement}`}` as Transaction["reference"],
      description: "" as Transaction["description"],
      rail,
      corrects: { kind: "LATE", transactionId },
      depositId: undefined,
      reversedById: undefined,
      availableAfterCents: undefined,
      payment: undefined,
    };
    this.#shared.transactions.set(id, late);
    this.#book(late, { movement, receipt });
    const amount: number = amountCents;
    if (type === "MINT") this.#takeIn(account, late);
    else if (account.availableCents >= amount) this.#post(account, { available: -amount, reserve: -amount });
    else this.#post(account, { shortfall: amount, reserve: -amount });
    late.availableAfterCents = account.availableCents;
    return late;
  }

  #book(transaction: ModelTransaction, { movement, receipt }: Proof): void {
    transaction.railMovement = movement;
    transaction.railReceipt = receipt;
    if (receipt !== undefined) this.#receipts.set(`${transaction.organizationId} ${receipt}`, transaction.id);
    this.rows += 1;
  }

  /** Credits the account if it can take the shillings; else they belong to nobody. */
  #takeIn(account: ModelAccount, transaction: ModelTransaction): void {
    const { amountCents } = transaction;
    if (this.#canCredit(account, amountCents)) {
      this.#post(account, { reserve: amountCents, available: amountCents });
    } else {
      this.#post(account, { reserve: amountCents, unallocated: amountCents });
      this.#flag(transaction, "NOT_CREDITED");
    }
  }

  #canCredit({ organizationId, status, availableCents, heldCents }: ModelAccount, amount: number): boolean {
    if (status === "CLOSED" || availableCents + heldCents + amount > CENTS_MAX) return false;
    return fits(this.#shared.bookOf(organizationId).sums, { reserve: amount, available: amount });
  }

  #canBook({ account }: Order, type: Transaction["type"], amount: number): boolean {
    const { sums } = this.#shared.bookOf(account.organizationId);
    if (type === "REDEEM") return account.availableCents >= amount || fits(sums, { shortfall: amount });
    return this.#canCredit(account, amount) || fits(sums, { reserve: amount, unallocated: amount });
  }

  #post(account: ModelAccount, by: Partial<BookSums>): void {
    post(this.#shared.bookOf(account.organizationId), account, by);
  }

  #resolvedAs(
    transaction: ModelTransaction,
    resolution: ResolveTransaction["resolution"],
  ): ModelTransaction | undefined {
    const { status, railReceipt, failure } = transaction;
    if (resolution.kind === "FAILED") return failure === "RESOLVED_BY_OPERATOR" ? transaction : undefined;
    if (resolution.kind === "MOVED") {
      const { receipt, amountCents } = resolution;
      const late = this.#late(transaction);
      const isBooked = late.some((each) => each.railReceipt === receipt && each.amountCents === amountCents);
      return isBooked ? transaction : undefined;
    }
    return status === "COMPLETED" && railReceipt === resolution.receipt ? transaction : undefined;
  }

  #late({ id }: ModelTransaction): ModelTransaction[] {
    return [...this.#shared.transactions.values()].filter(
      ({ corrects }) => corrects?.kind === "LATE" && corrects.transactionId === id,
    );
  }

  #own(organizationId: OrganizationId, id: TransactionId): ModelTransaction | undefined {
    const transaction = this.#shared.transactions.get(id);
    return transaction?.organizationId === organizationId ? transaction : undefined;
  }

  #order(organizationId: OrganizationId, id: TransactionId): Order | undefined {
    const transaction = this.#own(organizationId, id);
    const account = transaction && this.#shared.accounts.get(transaction.accountId);
    const payment = transaction?.payment;
    if (transaction === undefined || account === undefined || payment === undefined) return undefined;
    return { transaction, account, payment };
  }
}

type Proof = Pick<CompletePayment, "movement" | "receipt">;

/** What each correction changes. */
const NO_TARGETS = { accountId: undefined, receipt: undefined, movement: undefined, direction: undefined };

function changesOf(command: CorrectBook): Partial<BookSums> {
  const amount: number = command.amountCents;
  switch (command.name) {
    case "coverShortfall":
      return { reserve: amount, shortfall: -amount };
    case "recoverShortfall":
      return { available: -amount, shortfall: -amount };
    case "allocate":
      return { unallocated: -amount, available: amount };
    case "returnUnallocated":
      return { unallocated: -amount, reserve: -amount };
    case "bookReceipt":
      return { reserve: amount, unallocated: amount };
    case "bookPayment":
      return {
        reserve: -amount,
        ...(command.accountId === undefined ? { shortfall: amount } : { available: -amount }),
      };
    case "adjustMovement": {
      const { accountId, direction } = command;
      if (direction === "in") {
        return { reserve: amount, ...(accountId === undefined ? { unallocated: amount } : { available: amount }) };
      }
      return { reserve: -amount, ...(accountId === undefined ? { shortfall: amount } : { available: -amount }) };
    }
    case "explainTransfer":
      return {};
    case "fundCharges":
      return chargesBy(command.direction, amount);
  }
}

function chargesBy(direction: "in" | "out", amount: number): Partial<BookSums> {
  return direction === "in" ? { reserve: amount, charges: -amount } : { reserve: -amount, charges: amount };
}

function end({ transaction, account, payment }: Order, status: Ended): void {
  transaction.status = status;
  transaction.openFlags = [];
  transaction.heldFor = [];
  payment.state = "ENDED";
  payment.number = undefined;
  account.openPayments -= 1;
}

/** Whether the rail has said that shillings moved, and the book took them for nobody's. */
function hasMoved({ openFlags }: ModelTransaction): boolean {
  return openFlags.some((flag) => flag !== "OUTCOME_UNKNOWN");
}

function agrees({ amountCents }: CompletePayment, transaction: ModelTransaction): boolean {
  return amountCents === undefined || amountCents === transaction.amountCents;
}

/** Whether the masked number can be this one: "254******149" can be "+254708374149". */
function hides(masked: string, phoneNumber: string): boolean {
  const pattern = new RegExp(`^\\+${masked.replaceAll("*", "[0-9]")}$`);
  return pattern.test(phoneNumber);
}

function fits(sums: BookSums, by: Partial<BookSums>): boolean {
  return BOOK_ACCOUNTS.every((name) => Math.abs(sums[name] + (by[name] ?? 0)) <= SUM_CENTS_MAX);
}

function notFound(transactionId: TransactionId): Answer {
  return refused({ reason: "TRANSACTION_NOT_FOUND", transactionId });
}
