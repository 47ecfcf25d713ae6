import type { Authorized, NewIds } from "../authority.js";
import { type Book, type Decision, type Lookup, type Operation, refuse, replay } from "../decision.js";
import type { Deposit } from "../deposit.js";
import { needReceipt, refusalByNumber } from "../movement.js";
import type { RailReceipt } from "../payment.js";
import { type Comparison, differingFields } from "../repeat.js";
import { DIRECT_RAIL } from "../transaction.js";
import type { Cents } from "../values/cents.js";
import type { AccountId } from "../values/ids.js";
import type { StatusReason } from "../values/text.js";
import type { UnixMillis } from "../values/time.js";
import { credited, inOneCommit, received, refusalToCredit, refusalToReceive } from "./credit.js";
import { withPersonAbove } from "./with-person-above.js";

/** Records shillings that came in, and that no rail reports: on the word of an operator. */
export interface RecordDeposit extends Authorized {
  readonly name: "recordDeposit";
  readonly receipt: RailReceipt;
  readonly amountCents: Cents;
  /** The account that gets them. Without one, they stay unallocated. */
  readonly accountId: AccountId | undefined;
  readonly note: StatusReason;
  readonly facts: NewIds;
}

const operation: Operation<RecordDeposit, Deposit> = { lookup, decide };

export const recordDeposit = withPersonAbove(operation, {
  amountOf: ({ amountCents }) => amountCents,
  statusAfter: ({ accountId }) => (accountId === undefined ? "unallocated" : "credited"),
});

function lookup({ organizationId, receipt, accountId }: RecordDeposit, rows: Lookup): void {
  needReceipt(rows, organizationId, receipt);
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
    refusalByNumber(book, organizationId, receipt) ??
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
      sameNumber: undefined,
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
