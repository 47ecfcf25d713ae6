import type { FlagTransaction } from "../commands.js";
import { type Book, type Decision, type Lookup, type Operation, refuse } from "../decision.js";
import { decideFlag } from "../orders/flag.js";
import { accountOf } from "../orders/order.js";
import type { Transaction } from "../transaction.js";
import type { UnixMillis } from "../values/time.js";

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
