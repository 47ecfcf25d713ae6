import { type Book, type Decision, type Lookup, type Operation, refuse, replay } from "../decision.js";
import type { Deposit } from "../deposit.js";
import { credited, inOneCommit, received, refusalToCredit, refusalToReceive } from "../deposits/credit.js";
import type { RecordDeposit } from "../deposits/deposit-commands.js";
import { withPersonAbove } from "../deposits/with-person-above.js";
import { refusalByReceipt } from "../movement.js";
import { type Comparison, differingFields } from "../repeat.js";
import { DIRECT_RAIL } from "../transaction.js";
import type { UnixMillis } from "../values/time.js";

const operation: Operation<RecordDeposit, Deposit> = { lookup, decide };

export const recordDeposit = withPersonAbove(operation, ({ amountCents }) => amountCents);

function lookup({ organizationId, receipt, accountId }: RecordDeposit, rows: Lookup): void {
  rows.need("receipt", { organizationId, name: receipt });
  if (accountId !== undefined) rows.need("account", accountId);
}

/**
 * Records shillings that came in where no rail reports them: at a bank, or at a rail that does not
 * answer. With an account, they are credited in the same commit. The same receipt with the same
 * amount and account is a replay.
 *
 * Refuses, in this order: RECEIPT_ALREADY_USED, LIMIT_EXCEEDED of the book, those of
 * `refusalToCredit`.
 */
function decide(book: Book, command: RecordDeposit, now: UnixMillis): Decision<Deposit> {
  const { organizationId, receipt, amountCents, accountId, actor, note: reason } = command;
  const same = book.depositWithReceipt(organizationId, receipt);
  if (same !== undefined && differingFields(COMPARISON, command, same, book).length === 0) return replay(same);
  const refusal =
    refusalByReceipt(book, organizationId, receipt) ??
    refusalToReceive(book.bookOf(organizationId), amountCents) ??
    (accountId === undefined ? undefined : refusalToCredit(book, { organizationId, accountId, amountCents }));
  if (refusal !== undefined) return refuse(refusal);

  const { newDepositId, newTransactionId } = command.facts;
  const account = accountId === undefined ? undefined : book.account(organizationId, accountId);
  const act = { actor, reason, now };
  const first = received(
    {
      id: newDepositId,
      organizationId,
      rail: DIRECT_RAIL,
      railAccountId: undefined,
      receipt,
      amountCents,
      status: "UNALLOCATED",
      reason: account === undefined ? "BY_HAND" : undefined,
      accountId: undefined,
      transactionId: undefined,
      credits: 0,
      typedReference: undefined,
      maskedPhone: undefined,
      paidAt: undefined,
      createdAt: now,
      updatedAt: now,
    },
    act,
  );
  const step =
    account === undefined
      ? first
      : inOneCommit(first, credited(book, first.deposit, { account, newTransactionId }, act));
  return { kind: "effect", resource: step.deposit, effect: step.effect };
}

const COMPARISON: Comparison<RecordDeposit, Deposit> = {
  receipt: ["receipt", ({ receipt }, existing) => receipt === existing.receipt],
  amountCents: ["amount", ({ amountCents }, existing) => amountCents === existing.amountCents],
  accountId: ["account_id", ({ accountId }, existing) => accountId === existing.accountId],
  // The words of the first call stand in the journal. Who repeats it need not know them.
  note: "no content",
};
