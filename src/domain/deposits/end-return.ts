import type { Commanded } from "../authority.js";
import { type Book, type Decision, type Lookup, type Operation, refuse, replay } from "../decision.js";
import type { Deposit } from "../deposit.js";
import { needReceipt, refusalByReceipt } from "../movement.js";
import type { RailReceipt } from "../payment.js";
import type { DepositId } from "../values/ids.js";
import type { StatusReason } from "../values/text.js";
import type { UnixMillis } from "../values/time.js";
import { depositEntry, wentBack } from "./credit.js";

/** Says what became of a return that the rail was asked for. */
export interface EndReturn extends Commanded {
  readonly name: "endReturn";
  readonly depositId: DepositId;
  /** When the deposit became RETURNING: a later return has another time. */
  readonly begunAt: UnixMillis;
  /** That of the return. Undefined if the rail has refused it. */
  readonly receipt: RailReceipt | undefined;
  /** The code of the refusal. */
  readonly reason: StatusReason;
}

export const endReturn: Operation<EndReturn, Deposit> = { lookup, decide, inSuspension: "always" };

function lookup({ organizationId, depositId, receipt }: EndReturn, rows: Lookup): void {
  needReceipt(rows, organizationId, receipt);
  rows.need("deposit", depositId);
}

/**
 * Books that the rail has returned a deposit, or lets it wait again because the rail refused that.
 * What is so already is a replay.
 *
 * Refuses, in this order: DEPOSIT_NOT_FOUND, INVALID_TRANSITION (also if another return has begun
 * since), RECEIPT_ALREADY_USED.
 */
function decide(book: Book, command: EndReturn, now: UnixMillis): Decision<Deposit> {
  const { organizationId, depositId, begunAt, receipt, actor, reason } = command;
  const deposit = book.deposit(organizationId, depositId);
  if (deposit === undefined) return refuse({ reason: "DEPOSIT_NOT_FOUND", depositId });
  const { status } = deposit;
  const to = receipt === undefined ? "UNALLOCATED" : "RETURNED";
  if (status === to) return replay(deposit);
  if (status !== "RETURNING" || deposit.updatedAt !== begunAt) {
    return refuse({ reason: "INVALID_TRANSITION", from: status, to });
  }
  const act = { actor, reason, now };
  if (receipt !== undefined) {
    const refusal = refusalByReceipt(book, organizationId, receipt);
    return refusal === undefined ? wentBack(deposit, act, { to: "RETURNED", receipt }) : refuse(refusal);
  }
  const row: Deposit = { ...deposit, status: "UNALLOCATED", reason: "RETURN_FAILED", updatedAt: now };
  const given = { kind: "deposit.return_failed", posting: undefined, receipt } as const;
  const effect = { entries: [depositEntry(row, act, given)], puts: [{ table: "deposits", row }] } as const;
  return { kind: "effect", resource: row, effect };
}
