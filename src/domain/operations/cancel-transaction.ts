import type { LedgerAccount } from "../account.js";
import type { CancelTransaction } from "../commands.js";
import { type Book, type Decision, type Lookup, type Operation, refuse, replay } from "../decision.js";
import { balancesOf, postedTo, releasePosting } from "../journal.js";
import type { Transaction } from "../transaction.js";
import type { UnixMillis } from "../values/time.js";

export const cancelTransaction: Operation<CancelTransaction, Transaction> = { lookup, decide };

function lookup({ transactionId }: CancelTransaction, rows: Lookup): void {
  rows.transaction(transactionId);
}

/**
 * Cancels a PENDING transaction and releases the hold of a redemption. For a transaction that is
 * already CANCELED it returns a replay.
 *
 * Refuses, in this order: TRANSACTION_NOT_FOUND, INVALID_TRANSITION.
 */
function decide(book: Book, command: CancelTransaction, now: UnixMillis): Decision<Transaction> {
  const { organizationId, transactionId, reason } = command;
  const transaction = book.transaction(organizationId, transactionId);
  if (transaction === undefined) return refuse({ reason: "TRANSACTION_NOT_FOUND", transactionId });
  if (transaction.status === "CANCELED") return replay(transaction);
  if (transaction.status !== "PENDING") {
    return refuse({ reason: "INVALID_TRANSITION", from: transaction.status, to: "CANCELED" });
  }

  const account = book.account(organizationId, transaction.accountId);
  if (account === undefined)
    throw new Error(`${transaction.id} refers to ${transaction.accountId}, which was not loaded`);
  const posting = transaction.type === "REDEEM" ? releasePosting(transaction.amountCents) : undefined;
  const posted: LedgerAccount =
    posting === undefined ? account : { ...account, ...postedTo(account, posting), updatedAt: now };
  const canceled: Transaction = { ...transaction, status: "CANCELED", statusReason: reason, updatedAt: now };
  return {
    kind: "effect",
    resource: canceled,
    effect: {
      entries: [
        {
          organizationId,
          accountId: account.id,
          transactionId,
          freezeId: undefined,
          kind: "transaction.canceled",
          posting,
          balancesAfter: balancesOf(posted),
          actor: command.actor,
          reason,
          recordedAt: now,
        },
      ],
      puts: [
        { table: "accounts", row: posted },
        { table: "transactions", row: canceled },
      ],
    },
  };
}
