import type { Commanded } from "../authority.js";
import { type Book, type Decision, type Lookup, type Operation, refuse } from "../decision.js";
import type { FlagReason } from "../payment.js";
import type { Transaction } from "../transaction.js";
import type { TransactionId } from "../values/ids.js";
import type { StatusReason } from "../values/text.js";
import type { UnixMillis } from "../values/time.js";
import { decideFlag } from "./flag.js";
import { accountOf } from "./order.js";

/** Notes that a person must look at the transaction. */
export interface FlagTransaction extends Commanded {
  readonly name: "flagTransaction";
  readonly transactionId: TransactionId;
  readonly flag: FlagReason;
  readonly reason: StatusReason;
}

export const flagTransaction: Operation<FlagTransaction, Transaction> = { lookup, decide, inSuspension: "always" };

function lookup({ transactionId }: FlagTransaction, rows: Lookup): void {
  rows.need("transaction", transactionId);
}

/**
 * Notes that a person must look at the transaction. The flag stays until an operator has attended
 * to it, or until the transaction ends. A flag that is up already is a replay.
 *
 * Refuses: TRANSACTION_NOT_FOUND.
 */
function decide(book: Book, command: FlagTransaction, now: UnixMillis): Decision<Transaction> {
  const { organizationId, transactionId, flag, actor, reason } = command;
  const transaction = book.transaction(organizationId, transactionId);
  if (transaction === undefined) return refuse({ reason: "TRANSACTION_NOT_FOUND", transactionId });
  return decideFlag({ transaction, account: accountOf(book, transaction) }, flag, { actor, reason, now });
}
