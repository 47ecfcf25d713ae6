import type { Commanded } from "../authority.js";
import { type Book, type Decision, type Lookup, type Operation, refuse } from "../decision.js";
import { begunByClock, hasIdAtRail, isTurnedAwayTooLong, type Payment, turnedAwayMax } from "../payment.js";
import type { Transaction } from "../transaction.js";
import type { TransactionId } from "../values/ids.js";
import type { UnixMillis } from "../values/time.js";
import { mayHaveMoved } from "./flag.js";
import { orderOf } from "./order.js";
import { effectOf, postedStep } from "./step.js";

/** Asks for the permission to ask the rail. */
export interface BeginPayment extends Commanded {
  readonly name: "beginPayment";
  readonly transactionId: TransactionId;
  /** The revision of the account at the rail that the settlement will use. */
  readonly railRevision: number;
  /** When the settlement looks at the payment next, if the rail does not answer. */
  readonly nextCheckAt: UnixMillis;
  /** Whether the rail may have the order already: then it must have an id there (`hasIdAtRail`). */
  readonly isAgain?: boolean;
}

export const beginPayment: Operation<BeginPayment, Transaction> = { lookup, decide };

function lookup({ organizationId, transactionId }: BeginPayment, rows: Lookup): void {
  rows.need("payment", transactionId);
  rows.need("railAccounts", organizationId);
}

/**
 * Allows the settlement to ask the rail. The commit of this decision is the write-ahead record:
 * only after it the rail is asked. The ledger allows it once, so of two servers only one asks.
 *
 * A payout to a phone that the rail may have can be sent again. That is counted, too: what is known
 * about an earlier request then proves nothing about the order any more. An order about which a
 * report says that shillings moved is not sent, nor is a mint that the rail has turned away twice,
 * a payout to a business that it has turned away once, or a payout an hour after such a request. A
 * redemption that is held is not sent before a person has released it.
 *
 * Refuses, in this order: TRANSACTION_NOT_FOUND, INVALID_TRANSITION, BOOK_RESTORED, ACCOUNT_FROZEN,
 * RAIL_ACCOUNT_CHANGED.
 */
function decide(book: Book, command: BeginPayment, now: UnixMillis, clock: UnixMillis): Decision<Transaction> {
  const { organizationId, transactionId, actor } = command;
  const order = orderOf(book, organizationId, transactionId);
  if (order === undefined) return refuse({ reason: "TRANSACTION_NOT_FOUND", transactionId });
  const { transaction, account, payment } = order;
  const isAllowed =
    command.isAgain === true ? payment.state === "SENDING" && hasIdAtRail(payment) : payment.state === "READY";
  const isTooLong = isTurnedAwayTooLong({ ...payment, begunAt: begunByClock(payment) }, clock);
  const isOneTooMany = payment.turnedAway >= turnedAwayMax(payment) || isTooLong;
  const isHeld = transaction.heldFor.length > 0;
  if (!isAllowed || isHeld || isOneTooMany || mayHaveMoved(transaction)) {
    return refuse({ reason: "INVALID_TRANSITION", from: transaction.status, to: "PROCESSING" });
  }
  // A restored book may be older than what the rail has done. Nothing begins until an operator has
  // compared both.
  if (book.bookOf(organizationId).state === "RESTORED") return refuse({ reason: "BOOK_RESTORED" });
  if (account.status === "FROZEN") return refuse({ reason: "ACCOUNT_FROZEN", accountId: account.id });
  // Otherwise the order could go to an old shortcode, and the new one would be asked about it.
  const railAccount = book.railAccounts(organizationId).find(({ id }) => id === payment.railAccountId);
  if ((railAccount?.revision ?? 0) !== command.railRevision) {
    return refuse({ reason: "RAIL_ACCOUNT_CHANGED" });
  }

  const row: Payment = {
    ...payment,
    state: "SENDING",
    begunAt: payment.begunAt ?? now,
    aheadMillis: payment.begunAt === undefined ? now - clock : payment.aheadMillis,
    sends: payment.sends + 1,
    dueAt: command.nextCheckAt,
    updatedAt: now,
  };
  // The rail was asked before, and is known not to have heard it. The status says so already.
  if (transaction.status === "PROCESSING") {
    return { kind: "effect", resource: transaction, effect: { entries: [], puts: [{ table: "payments", row }] } };
  }
  const processing: Transaction = { ...transaction, status: "PROCESSING", updatedAt: now };
  const step = postedStep({ transaction: processing, account, kind: "transaction.processing", actor });
  return { kind: "effect", resource: processing, effect: effectOf([step], [{ table: "payments", row }]) };
}
