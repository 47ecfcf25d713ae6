import type { Authorized } from "../authority.js";
import { type Book, type Decision, type Lookup, type Operation, refuse, replay } from "../decision.js";
import type { Deposit } from "../deposit.js";
import { needReceipt, refusalByReceipt } from "../movement.js";
import type { RailReceipt } from "../payment.js";
import type { Rail } from "../transaction.js";
import type { DepositId } from "../values/ids.js";
import { type Parsed, parsed, unparsed } from "../values/parsed.js";
import type { StatusReason } from "../values/text.js";
import type { UnixMillis } from "../values/time.js";
import { depositEntry, wentBack } from "./credit.js";
import { withPersonAbove } from "./with-person-above.js";

/** Says that an unallocated deposit went back to its payer, or wants the rail to return it. */
export interface ReturnDeposit extends Authorized {
  readonly name: "returnDeposit";
  readonly depositId: DepositId;
  /** That of the return. Undefined: the rail is asked to return the deposit. */
  readonly receipt: RailReceipt | undefined;
  readonly note: StatusReason;
}

const operation: Operation<ReturnDeposit, Deposit> = { lookup, decide };

export const returnDeposit = withPersonAbove(operation, {
  statusAfter: ({ receipt }) => (receipt === undefined ? "returning: the rail is asked" : "returned to the payer"),
});

/** Only a rail that returns payments can be asked for the return of a deposit. */
export function parseThroughRail(rail: Rail, returnsPayments: boolean): Parsed<true> {
  return returnsPayments ? parsed(true) : unparsed(`must be false: the rail ${rail} returns no payments`);
}

function lookup({ organizationId, depositId, receipt }: ReturnDeposit, rows: Lookup): void {
  needReceipt(rows, organizationId, receipt);
  rows.need("deposit", depositId);
}

/**
 * Books that an unallocated deposit went back to its payer. Without a receipt it notes that the
 * rail will be asked to return it: until that has ended, nobody else can decide about the deposit.
 * A deposit that is RETURNED is a replay, and so is a second wish for the rail.
 *
 * Refuses, in this order: DEPOSIT_NOT_FOUND, INVALID_TRANSITION, then RECEIPT_ALREADY_USED or,
 * without a receipt, RAIL_ACCOUNT_NOT_FOUND.
 */
function decide(book: Book, command: ReturnDeposit, now: UnixMillis): Decision<Deposit> {
  const { organizationId, depositId, receipt, actor, note: reason } = command;
  const deposit = book.deposit(organizationId, depositId);
  if (deposit === undefined) return refuse({ reason: "DEPOSIT_NOT_FOUND", depositId });
  const { status, rail, railAccountId } = deposit;
  const isThroughRail = receipt === undefined;
  if (status === "RETURNED" || (isThroughRail && status === "RETURNING")) return replay(deposit);
  if (status !== "UNALLOCATED") return refuse({ reason: "INVALID_TRANSITION", from: status, to: "RETURNED" });
  const act = { actor, reason, now };
  if (!isThroughRail) {
    const refusal = refusalByReceipt(book, organizationId, receipt);
    return refusal === undefined ? wentBack(deposit, act, { to: "RETURNED", receipt }) : refuse(refusal);
  }
  const isThere = book.railAccounts(organizationId).some(({ id }) => id === railAccountId);
  if (!isThere) return refuse({ reason: "RAIL_ACCOUNT_NOT_FOUND", rail });
  const row: Deposit = { ...deposit, status: "RETURNING", reason: undefined, updatedAt: now };
  const entry = depositEntry(row, act, { kind: "deposit.returning", posting: undefined, receipt });
  return { kind: "effect", resource: row, effect: { entries: [entry], puts: [{ table: "deposits", row }] } };
}
