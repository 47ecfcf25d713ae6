import type { Authorized } from "../authority.js";
import { type Book, type Decision, type Lookup, type Operation, refuse, replay } from "../decision.js";
import { detailBy } from "../journal.js";
import type { FlagReason } from "../payment.js";
import { byOnePerson } from "../second-person.js";
import type { Transaction } from "../transaction.js";
import type { TransactionId } from "../values/ids.js";
import type { StatusReason } from "../values/text.js";
import type { UnixMillis } from "../values/time.js";
import { accountOf } from "./order.js";
import { effectOf, postedStep } from "./step.js";

/** Notes that a person has looked at the cause of a flag. */
export interface ClearFlag extends Authorized {
  readonly name: "clearFlag";
  readonly transactionId: TransactionId;
  readonly flag: FlagReason;
  readonly note: StatusReason;
}

const operation: Operation<ClearFlag, Transaction> = { lookup, decide, inSuspension: "of operators" };

/** To look at a cause decides nothing, so it never needs a second person. */
export const clearFlag = byOnePerson(operation);

function lookup({ transactionId }: ClearFlag, rows: Lookup): void {
  rows.need("payment", transactionId);
}

/**
 * Lowers one flag: a person has looked at its cause. A flag that is not up is a replay. A
 * PROCESSING transaction must be resolved instead. Only an order, and what corrects one, has flags.
 *
 * Refuses, in this order: TRANSACTION_NOT_FOUND, PAYMENT_NOT_FOUND, TRANSACTION_STILL_OPEN.
 */
function decide(book: Book, command: ClearFlag, now: UnixMillis): Decision<Transaction> {
  const { organizationId, transactionId, flag, authority, actor, note: reason } = command;
  const transaction = book.transaction(organizationId, transactionId);
  if (transaction === undefined) return refuse({ reason: "TRANSACTION_NOT_FOUND", transactionId });
  const { status, openFlags, corrects } = transaction;
  const isOfOrder = corrects?.kind === "LATE" || book.payment(organizationId, transactionId) !== undefined;
  if (!isOfOrder) return refuse({ reason: "PAYMENT_NOT_FOUND", transactionId });
  if (status === "PROCESSING") return refuse({ reason: "TRANSACTION_STILL_OPEN", transactionId });
  if (!openFlags.includes(flag)) return replay(transaction);
  const attended: Transaction = {
    ...transaction,
    openFlags: openFlags.filter((open) => open !== flag),
    updatedAt: now,
  };
  const account = accountOf(book, transaction);
  const detail = detailBy(flag, [authority.person]);
  const step = postedStep({ transaction: attended, account, kind: "transaction.attended", actor, reason, detail });
  return { kind: "effect", resource: attended, effect: effectOf([step]) };
}
