import { type Book, type Decision, type Lookup, type Operation, refuse, replay } from "../decision.js";
import type { Deposit } from "../deposit.js";
import { depositEntry } from "../deposits/credit.js";
import type { ReturnDeposit } from "../deposits/deposit-commands.js";
import { amountOfDeposit, withPersonAbove } from "../deposits/with-person-above.js";
import { returnPosting } from "../journal.js";
import { refusalByReceipt } from "../movement.js";
import type { UnixMillis } from "../values/time.js";

const operation: Operation<ReturnDeposit, Deposit> = { lookup, decide };

export const returnDeposit = withPersonAbove(operation, amountOfDeposit);

function lookup({ organizationId, depositId, receipt }: ReturnDeposit, rows: Lookup): void {
  rows.need("receipt", { organizationId, name: receipt });
  rows.need("deposit", depositId);
}

/**
 * Books that an unallocated deposit went back to its payer. A deposit that is RETURNED is a replay.
 *
 * Refuses, in this order: DEPOSIT_NOT_FOUND, INVALID_TRANSITION, RECEIPT_ALREADY_USED.
 */
function decide(book: Book, command: ReturnDeposit, now: UnixMillis): Decision<Deposit> {
  const { organizationId, depositId, receipt, actor, note: reason } = command;
  const deposit = book.deposit(organizationId, depositId);
  if (deposit === undefined) return refuse({ reason: "DEPOSIT_NOT_FOUND", depositId });
  const { status, amountCents } = deposit;
  if (status === "RETURNED") return replay(deposit);
  if (status !== "UNALLOCATED") return refuse({ reason: "INVALID_TRANSITION", from: status, to: "RETURNED" });
  const refusal = refusalByReceipt(book, organizationId, receipt);
  if (refusal !== undefined) return refuse(refusal);
  const row: Deposit = { ...deposit, status: "RETURNED", reason: undefined, updatedAt: now };
  const given = { kind: "deposit.returned", posting: returnPosting(amountCents), receipt } as const;
  const entry = depositEntry(row, { actor, reason, now }, given);
  return { kind: "effect", resource: row, effect: { entries: [entry], puts: [{ table: "deposits", row }] } };
}
