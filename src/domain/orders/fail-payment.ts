import type { Commanded } from "../authority.js";
import { type Book, type Decision, type Lookup, type Operation, refuse, replay } from "../decision.js";
import type { FailureReason } from "../payment.js";
import type { Transaction } from "../transaction.js";
import type { TransactionId } from "../values/ids.js";
import type { StatusReason } from "../values/text.js";
import type { UnixMillis } from "../values/time.js";
import { decideFlag, flagged, mayHaveMoved } from "./flag.js";
import { endedWithoutMovement, orderOf } from "./order.js";
import { failed } from "./outcome.js";
import { effectOf, lastOf, type Steps } from "./step.js";

/** A rail's report that the shillings of an order have not moved, and never will. */
export interface FailPayment extends Commanded {
  readonly name: "failPayment";
  readonly transactionId: TransactionId;
  readonly failure: Exclude<
    FailureReason,
    "REPORT_DIFFERS" | "RESOLVED_BY_OPERATOR" | "REFUSED_BY_OPERATOR" | "CHECK_DENIED"
  >;
  /**
   * Which request the rail rejected in its answer: the payment's `sends` when it was allowed.
   * Undefined if the failure is that of the order.
   */
  readonly sends?: number;
  readonly reason: StatusReason;
}

export const failPayment: Operation<FailPayment, Transaction> = { lookup, decide, inSuspension: "always" };

function lookup({ transactionId }: FailPayment, rows: Lookup): void {
  rows.need("payment", transactionId);
}

/**
 * Ends an order for which no shillings have moved, and releases the hold of a redemption. For a
 * FAILED or CANCELED transaction it returns a replay. For a COMPLETED one it raises a flag, and
 * also where a report said before that shillings moved: then only a person ends the order.
 *
 * Time alone (EXPIRED) ends only an order that the rail is proven not to have: nothing that the
 * rail may carry out is ever released. The exception is a mint whose request the rail turned away.
 * Its prompt may be paid all the same, so a flag stays.
 *
 * Refuses, in this order: TRANSACTION_NOT_FOUND, and only if EXPIRED: INVALID_TRANSITION,
 * BOOK_RESTORED.
 */
function decide(book: Book, command: FailPayment, now: UnixMillis): Decision<Transaction> {
  const { organizationId, transactionId, actor, failure, sends, reason } = command;
  const order = orderOf(book, organizationId, transactionId);
  if (order === undefined) return refuse({ reason: "TRANSACTION_NOT_FOUND", transactionId });
  const { transaction, payment } = order;
  if (transaction.status === "FAILED" || transaction.status === "CANCELED") return replay(transaction);
  // A later request is on its way. That an earlier one was rejected says nothing about it.
  if (sends !== undefined && sends !== payment.sends) return replay(transaction);
  // A person decides about what is held, however long it takes.
  if (failure === "EXPIRED" && (payment.state !== "READY" || transaction.heldFor.length > 0)) {
    return refuse({ reason: "INVALID_TRANSITION", from: transaction.status, to: "FAILED" });
  }
  // A restored book may be older than what the rail was asked: READY proves nothing there.
  if (failure === "EXPIRED" && book.bookOf(organizationId).state === "RESTORED")
    return refuse({ reason: "BOOK_RESTORED" });
  const attribution = { actor, reason, now };
  if (transaction.status === "COMPLETED") return decideFlag(order, "FAILED_AFTER_COMPLETION", attribution);
  if (mayHaveMoved(transaction)) return decideFlag(order, "REPORT_DIFFERS", attribution);
  const { account, put, limits } = endedWithoutMovement(book, order, now);
  const end = failed({ transaction, account }, failure, attribution);
  const mayBePaid = failure === "EXPIRED" && payment.turnedAway > 0;
  const steps: Steps = mayBePaid ? [end, flagged(end, "OUTCOME_UNKNOWN", attribution)] : [end];
  return { kind: "effect", resource: lastOf(steps).transaction, effect: effectOf(steps, [put], limits) };
}
