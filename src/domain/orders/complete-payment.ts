import type { Commanded } from "../authority.js";
import { type Book, type Decision, type Lookup, type Operation, refuse, replay } from "../decision.js";
import { needReceipt, sameNumberOf } from "../movement.js";
import type { FlagReason, MovementReport, Payment, RailReceipt } from "../payment.js";
import type { Transaction } from "../transaction.js";
import type { TransactionId } from "../values/ids.js";
import { canBePhone } from "../values/masked-phone.js";
import type { PhoneNumber } from "../values/phone-number.js";
import type { StatusReason } from "../values/text.js";
import type { UnixMillis } from "../values/time.js";
import { decideFlag, flagged, type Flagging, isContradicted } from "./flag.js";
import { ended, type Order, orderOf } from "./order.js";
import { completed, movedLate } from "./outcome.js";
import { effectOf, lastOf, postedStep, type Steps } from "./step.js";

/** A rail's report that the shillings of an order have moved. */
export type CompletePayment = Commanded &
  MovementReport & {
    readonly name: "completePayment";
    readonly transactionId: TransactionId;
    /** The id of a correction, if the report needs one. */
    readonly newTransactionId: TransactionId;
    /** Whether a message of the rail says that the same movement failed. */
    readonly isDenied?: boolean;
    /** Whether the report is a row of the rail's own list: it needs no phone to decide a doubt. */
    readonly isListed?: boolean;
    readonly reason: StatusReason;
  };

export const completePayment: Operation<CompletePayment, Transaction> = { lookup, decide, inSuspension: "always" };

function lookup({ organizationId, transactionId, movement, receipt }: CompletePayment, rows: Lookup): void {
  rows.need("order", transactionId);
  needReceipt(rows, organizationId, receipt);
  if (movement !== undefined) rows.need("movement", { organizationId, name: movement });
}

/**
 * Books a rail's report that shillings moved: the only place that recognises them without an
 * operator. A report is never refused. It is booked, it is a replay, or it raises a flag in the
 * same command, so that nothing is lost between the two. A report without an amount or a phone
 * number agrees with every one. But once a report has contradicted the order, or a message says
 * that the movement failed, only a report that leaves nothing out completes it, or a person: one
 * that says less cannot overrule it.
 *
 * The first rule that fits decides:
 *
 * 1. The book has the receipt: a replay if it belongs to this order and has the amount, and
 *    otherwise a flag. So it is if the book has its number from another source, on a caller's word:
 *    a person completes the order then, or fails it.
 * 2. The book has the movement: the report may add the receipt. If it differs, it raises a flag.
 * 3. A transaction of the order has a movement without receipt, or a receipt without movement, and
 *    the report has only the other: it speaks of the same.
 * 4. Else the status decides. A PROCESSING transaction is completed if the report agrees with the
 *    order. A COMPLETED or FAILED one gets a correction of its own. For a PENDING or CANCELED one
 *    nothing is booked, because the rail was never asked.
 *
 * Refuses: TRANSACTION_NOT_FOUND.
 */
function decide(book: Book, command: CompletePayment, now: UnixMillis): Decision<Transaction> {
  const { organizationId, transactionId } = command;
  const order = orderOf(book, organizationId, transactionId);
  if (order === undefined) return refuse({ reason: "TRANSACTION_NOT_FOUND", transactionId });
  const outcome = reported(book, order, command, now);
  if (outcome.kind !== "not booked") return outcome;
  const { flag } = outcome;
  return flag === undefined ? replay(order.transaction) : decideFlag(order, flag, { ...command, now });
}

/** What a report says cannot be booked for the order. */
interface NotBooked {
  readonly kind: "not booked";
  /** Undefined if a person has to look already. */
  readonly flag: FlagReason | undefined;
}

type Reported = Decision<Transaction> | NotBooked;

/** Decides what a report books for its order. */
export function reported(book: Book, order: Order, command: CompletePayment, now: UnixMillis): Reported {
  const report = new PaymentReport(book, order, command, now);
  return report.known() ?? report.counterpart() ?? report.byStatus();
}

class PaymentReport {
  readonly #book: Book;
  readonly #order: Order;
  readonly #command: CompletePayment;
  readonly #attribution: Flagging;
  /** The transaction of the order and its corrections. */
  readonly #transactions: readonly Transaction[];

  constructor(book: Book, order: Order, command: CompletePayment, now: UnixMillis) {
    const { organizationId, transactionId, actor, reason } = command;
    this.#book = book;
    this.#order = order;
    this.#command = command;
    this.#attribution = { actor, reason, now };
    this.#transactions = [order.transaction, ...book.lateCorrections(organizationId, transactionId)];
  }

  /** Decides if the book has the receipt or the movement. */
  known(): Reported | undefined {
    const { organizationId, receipt, movement } = this.#command;
    const used = receipt === undefined ? undefined : this.#book.receipt(organizationId, receipt);
    if (used !== undefined) {
      const same = this.#ofOrder(used.transactionId);
      if (same === undefined) return this.#flag("RECEIPT_ALREADY_USED");
      return this.#hasAmountOf(same) ? replay(same) : this.#flag("REPORT_DIFFERS");
    }
    if (sameNumberOf(this.#book, organizationId, receipt) !== undefined) return this.#flag("RECEIPT_ALREADY_USED");
    const moved = movement === undefined ? undefined : this.#book.transactionWithMovement(organizationId, movement);
    if (moved === undefined) return undefined;
    const same = this.#ofOrder(moved);
    return same === undefined ? this.#flag("RECEIPT_ALREADY_USED") : this.#again(same);
  }

  /** Decides if the order has the half of the proof that the report lacks. */
  counterpart(): Reported | undefined {
    const { movement, receipt } = this.#command;
    if (movement !== undefined && receipt !== undefined) return undefined;
    const others = this.#transactions.filter(({ railMovement, railReceipt }) =>
      movement === undefined
        ? railMovement !== undefined && railReceipt === undefined
        : railReceipt !== undefined && railMovement === undefined,
    );
    const [first] = others;
    if (first === undefined) return undefined;
    return this.#again(others.find((other) => this.#hasAmountOf(other)) ?? first);
  }

  byStatus(): Reported {
    const { transaction, payment } = this.#order;
    switch (transaction.status) {
      case "PENDING":
      case "CANCELED":
        return this.#flag("REPORT_WITHOUT_ORDER");
      case "PROCESSING":
        if (!this.#hasAmountOf(transaction) || !this.#hasPhoneOf(payment)) return this.#flag("REPORT_DIFFERS");
        if (this.#isWhole()) return this.#complete();
        if (isContradicted(transaction)) return this.#flag(undefined);
        return this.#command.isDenied === true ? this.#flag("REPORT_DIFFERS") : this.#complete();
      case "COMPLETED":
      case "FAILED":
        return this.#correct();
    }
  }

  /** Decides on a movement that the transaction has already. */
  #again(transaction: Transaction): Reported {
    const { receipt } = this.#command;
    const known = transaction.railReceipt;
    const hasOtherReceipt = receipt !== undefined && known !== undefined && receipt !== known;
    if (!this.#hasAmountOf(transaction) || hasOtherReceipt) return this.#flag("REPORT_DIFFERS");
    return receipt === undefined || known !== undefined ? replay(transaction) : this.#addReceipt(transaction, receipt);
  }

  #addReceipt(transaction: Transaction, receipt: RailReceipt): Decision<Transaction> {
    const { actor, reason, now } = this.#attribution;
    const receipted: Transaction = { ...transaction, railReceipt: receipt, updatedAt: now };
    const { account } = this.#order;
    const step = postedStep({ transaction: receipted, account, kind: "transaction.receipted", actor, reason, receipt });
    return { kind: "effect", resource: receipted, effect: effectOf([step]) };
  }

  #complete(): Reported {
    const { organizationId } = this.#command;
    const { account, put } = ended(this.#order, this.#attribution.now);
    const { sums } = this.#book.bookOf(organizationId);
    const steps = completed({ ...this.#order, account }, this.#command, { ...this.#attribution, sums });
    if (steps === undefined) return this.#flag("NOT_CREDITED");
    // In the same commit: nobody sees it completed without the flag.
    const reported: Steps =
      this.#command.isDenied === true
        ? [...steps, flagged(lastOf(steps), "FAILED_AFTER_COMPLETION", this.#attribution)]
        : steps;
    return { kind: "effect", resource: lastOf(reported).transaction, effect: effectOf(reported, [put]) };
  }

  #correct(): Reported {
    const { organizationId, newTransactionId } = this.#command;
    const { sums } = this.#book.bookOf(organizationId);
    const amountCents = this.#command.amountCents ?? this.#order.transaction.amountCents;
    const late = { newTransactionId, proof: this.#command, amountCents };
    const steps = movedLate(this.#order, late, { ...this.#attribution, sums });
    if (steps === undefined) return this.#flag("NOT_CREDITED");
    const { transaction } = lastOf(steps);
    return { kind: "effect", resource: transaction, effect: effectOf(steps) };
  }

  #flag(flag: FlagReason | undefined): NotBooked {
    return { kind: "not booked", flag };
  }

  #ofOrder(id: TransactionId | undefined): Transaction | undefined {
    return this.#transactions.find((transaction) => transaction.id === id);
  }

  /** Whether the report leaves out nothing in which a report can differ. */
  #isWhole(): boolean {
    const { receipt, amountCents, phone, isListed } = this.#command;
    return receipt !== undefined && amountCents !== undefined && (phone !== undefined || isListed === true);
  }

  #hasAmountOf({ amountCents }: Transaction): boolean {
    return this.#command.amountCents === undefined || this.#command.amountCents === amountCents;
  }

  #hasPhoneOf({ numberKind, number }: Payment): boolean {
    const { phone } = this.#command;
    if (phone === undefined || number === undefined) return true;
    return numberKind === "PHONE" && canBePhone(phone, number as PhoneNumber);
  }
}
