import type { Commanded } from "../authority.js";
import { type Book, type Decision, type Lookup, type Operation, refuse, replay } from "../decision.js";
import { releasePosting } from "../journal.js";
import type { Transaction } from "../transaction.js";
import type { TransactionId } from "../values/ids.js";
import type { StatusReason } from "../values/text.js";
import type { UnixMillis } from "../values/time.js";
import { accountOf, endedWithoutMovement } from "./order.js";
import { effectOf, postedStep } from "./step.js";

export interface CancelTransaction extends Commanded {
  readonly name: "cancelTransaction";
  readonly transactionId: TransactionId;
  readonly reason: StatusReason;
}

export const cancelTransaction: Operation<CancelTransaction, Transaction> = {
  lookup,
  decide,
  inSuspension: "of operators",
};

function lookup({ transactionId }: CancelTransaction, rows: Lookup): void {
  rows.need("payment", transactionId);
}

/**
 * Cancels a PENDING transaction, whose rail was not asked yet, and releases the hold of a
 * redemption. For a transaction that is already CANCELED it returns a replay.
 *
 * Refuses, in this order: TRANSACTION_NOT_FOUND, INVALID_TRANSITION.
 */
function decide(book: Book, command: CancelTransaction, now: UnixMillis): Decision<Transaction> {
  const { organizationId, transactionId, actor, reason } = command;
  const transaction = book.transaction(organizationId, transactionId);
  if (transaction === undefined) return refuse({ reason: "TRANSACTION_NOT_FOUND", transactionId });
  if (transaction.status === "CANCELED") return replay(transaction);
  if (transaction.status !== "PENDING") {
    return refuse({ reason: "INVALID_TRANSITION", from: transaction.status, to: "CANCELED" });
  }

  const payment = book.payment(organizationId, transactionId);
  if (payment === undefined) throw new Error(`${transactionId} is PENDING, but has no payment`);
  const order = { transaction, account: accountOf(book, transaction), payment };
  const { account, put, limits } = endedWithoutMovement(book, order, now);
  const canceled: Transaction = {
    ...transaction,
    status: "CANCELED",
    statusReason: reason,
    openFlags: [],
    heldFor: [],
    updatedAt: now,
  };
  const posting = transaction.type === "REDEEM" ? releasePosting(transaction.amountCents) : undefined;
  const step = postedStep({ transaction: canceled, account, kind: "transaction.canceled", posting, actor, reason });
  return { kind: "effect", resource: canceled, effect: effectOf([step], [put], limits) };
}
