import type { LedgerAccount } from "../account.js";
import type { Authorized, NewIds } from "../authority.js";
import { type Book, type Decision, type Lookup, type Operation, refuse, replay } from "../decision.js";
import type { Deposit } from "../deposit.js";
import type { AccountId, DepositId } from "../values/ids.js";
import type { StatusReason } from "../values/text.js";
import type { UnixMillis } from "../values/time.js";
import { credited, refusalToCredit } from "./credit.js";
import { withPersonAbove } from "./with-person-above.js";

/** Credits a whole deposit to one account. */
export interface AssignDeposit extends Authorized {
  readonly name: "assignDeposit";
  readonly depositId: DepositId;
  readonly accountId: AccountId;
  readonly note: StatusReason;
  readonly facts: NewIds;
}

const operation: Operation<AssignDeposit, Deposit> = { lookup, decide };

export const assignDeposit = withPersonAbove(operation, { statusAfter: () => "credited" });

function lookup({ depositId, accountId }: AssignDeposit, rows: Lookup): void {
  rows.need("deposit", depositId);
  rows.need("account", accountId);
}

/**
 * Credits an unallocated deposit to an account, whole, by a mint. A deposit that this account has
 * is a replay.
 *
 * Refuses, in this order: DEPOSIT_NOT_FOUND, INVALID_TRANSITION, those of `refusalToCredit`.
 */
function decide(book: Book, command: AssignDeposit, now: UnixMillis): Decision<Deposit> {
  const { organizationId, depositId, accountId, actor, note: reason, facts } = command;
  const deposit = book.deposit(organizationId, depositId);
  if (deposit === undefined) return refuse({ reason: "DEPOSIT_NOT_FOUND", depositId });
  const { status, amountCents } = deposit;
  if (status === "CREDITED" && deposit.accountId === accountId) return replay(deposit);
  if (status !== "UNALLOCATED") return refuse({ reason: "INVALID_TRANSITION", from: status, to: "CREDITED" });
  const refusal = refusalToCredit(book, { organizationId, accountId, amountCents });
  if (refusal !== undefined) return refuse(refusal);
  // `refusalToCredit` has refused an account that is not there.
  const account = book.account(organizationId, accountId) as LedgerAccount;
  const { newTransactionId } = facts;
  const step = credited(book, deposit, { account, newTransactionId }, { actor, reason, now });
  return { kind: "effect", resource: step.deposit, effect: step.effect };
}
