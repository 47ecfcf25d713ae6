import type { Authorized, NewIds } from "../authority.js";
import { type Book, type Decision, type Lookup, type Operation, refuse, replay } from "../decision.js";
import { type Deposit, isUnallocated } from "../deposit.js";
import { redeemPosting, shortfallPosting } from "../journal.js";
import { needReceipt, refusalByReceipt } from "../movement.js";
import type { RailReceipt } from "../payment.js";
import type { DepositId, TransactionId } from "../values/ids.js";
import type { StatusReason } from "../values/text.js";
import type { UnixMillis } from "../values/time.js";
import { wentBack } from "./credit.js";
import { creditOf, takeBack } from "./take-back.js";
import { withPersonAbove } from "./with-person-above.js";

/** Says that the rail took a deposit back, also one that is credited. */
export interface ReverseDeposit extends Authorized {
  readonly name: "reverseDeposit";
  readonly depositId: DepositId;
  /** The mint that has credited it, as in UnassignDeposit. Undefined if it is unallocated. */
  readonly transactionId: TransactionId | undefined;
  /** That of the reversal. */
  readonly receipt: RailReceipt;
  readonly note: StatusReason;
  readonly facts: NewIds;
}

const operation: Operation<ReverseDeposit, Deposit> = { lookup, decide };

export const reverseDeposit = withPersonAbove(operation, { statusAfter: () => "reversed: the rail took it back" });

function lookup({ organizationId, depositId, transactionId, receipt }: ReverseDeposit, rows: Lookup): void {
  if (transactionId !== undefined) rows.need("transaction", transactionId);
  needReceipt(rows, organizationId, receipt);
  rows.need("deposit", depositId);
}

/**
 * Books that the rail took a deposit back, in full. It has happened: so the account that had the
 * shillings pays, even a frozen one. If it cannot, nobody does: a shortfall. A deposit that is
 * REVERSED is a replay. If the rail was asked to return the deposit, this is the return: a repeat
 * with the receipt of the return is a replay, too.
 *
 * Refuses, in this order: DEPOSIT_NOT_FOUND, INVALID_TRANSITION (also if another mint credits the
 * deposit by now), RECEIPT_ALREADY_USED.
 */
function decide(book: Book, command: ReverseDeposit, now: UnixMillis): Decision<Deposit> {
  const { organizationId, depositId, transactionId, receipt, actor, note: reason, facts } = command;
  const deposit = book.deposit(organizationId, depositId);
  if (deposit === undefined) return refuse({ reason: "DEPOSIT_NOT_FOUND", depositId });
  const { status, amountCents } = deposit;
  const isOwn = receipt !== deposit.receipt && book.receipt(organizationId, receipt)?.depositId === depositId;
  if (status === "REVERSED" || (status === "RETURNED" && isOwn)) return replay(deposit);
  const credit = creditOf(book, deposit, transactionId);
  if (credit === undefined && !isUnallocated(deposit)) {
    return refuse({ reason: "INVALID_TRANSITION", from: status, to: "REVERSED" });
  }
  const refusal = refusalByReceipt(book, organizationId, receipt);
  if (refusal !== undefined) return refuse(refusal);

  const act = { actor, reason, now };
  if (credit === undefined) {
    return wentBack(deposit, act, { to: status === "RETURNING" ? "RETURNED" : "REVERSED", receipt });
  }
  const row: Deposit = { ...deposit, status: "REVERSED", reason: undefined, updatedAt: now };
  const canPay = credit.account.availableCents >= amountCents;
  const posting = canPay ? redeemPosting(amountCents) : shortfallPosting(amountCents);
  const { newTransactionId } = facts;
  const step = takeBack(book, credit, { deposit: row, posting, receipt, newTransactionId }, act);
  return { kind: "effect", resource: row, effect: step.effect };
}
