import type { Authorized, NewIds } from "../authority.js";
import { type Book, type Decision, type Lookup, type Operation, refuse, replay } from "../decision.js";
import type { Deposit } from "../deposit.js";
import { uncreditPosting } from "../journal.js";
import { refusalByAmount } from "../movement.js";
import type { DepositId, TransactionId } from "../values/ids.js";
import type { StatusReason } from "../values/text.js";
import type { UnixMillis } from "../values/time.js";
import { creditOf, takeBack } from "./take-back.js";
import { withPersonAbove } from "./with-person-above.js";

/** Takes the credit of a deposit back. */
export interface UnassignDeposit extends Authorized {
  readonly name: "unassignDeposit";
  readonly depositId: DepositId;
  /** The mint to undo: it names the account, which the ledger locks before it reads the deposit. */
  readonly transactionId: TransactionId;
  readonly note: StatusReason;
  readonly facts: NewIds;
}

const operation: Operation<UnassignDeposit, Deposit> = { lookup, decide };

export const unassignDeposit = withPersonAbove(operation, { statusAfter: () => "unallocated" });

function lookup({ depositId, transactionId }: UnassignDeposit, rows: Lookup): void {
  rows.need("transaction", transactionId);
  rows.need("deposit", depositId);
}

/**
 * Takes the credit of a deposit back, by a redemption: its shillings belong to no account again.
 * It never makes a shortfall, because nobody has to do it. A frozen account keeps what it has.
 * A deposit that is unallocated is a replay.
 *
 * Refuses, in this order: DEPOSIT_NOT_FOUND, INVALID_TRANSITION (also if another mint credits the
 * deposit by now), ACCOUNT_FROZEN, INSUFFICIENT_FUNDS.
 */
function decide(book: Book, command: UnassignDeposit, now: UnixMillis): Decision<Deposit> {
  const { organizationId, depositId, transactionId, actor, note: reason, facts } = command;
  const deposit = book.deposit(organizationId, depositId);
  if (deposit === undefined) return refuse({ reason: "DEPOSIT_NOT_FOUND", depositId });
  const { status, amountCents } = deposit;
  if (status === "UNALLOCATED") return replay(deposit);
  const credit = creditOf(book, deposit, transactionId);
  if (credit === undefined) return refuse({ reason: "INVALID_TRANSITION", from: status, to: "UNALLOCATED" });
  const { account } = credit;
  if (account.status === "FROZEN") return refuse({ reason: "ACCOUNT_FROZEN", accountId: account.id });
  const refusal = refusalByAmount(book, account, { type: "REDEEM", amountCents });
  if (refusal !== undefined) return refuse(refusal);

  const unassigned: Deposit = {
    ...deposit,
    status: "UNALLOCATED",
    reason: "UNASSIGNED",
    accountId: undefined,
    transactionId: undefined,
    updatedAt: now,
  };
  const { newTransactionId } = facts;
  const given = {
    deposit: unassigned,
    posting: uncreditPosting(amountCents),
    receipt: undefined,
    newTransactionId,
  };
  const step = takeBack(book, credit, given, { actor, reason, now });
  return { kind: "effect", resource: unassigned, effect: step.effect };
}
