import type { Commanded } from "../authority.js";
import { type Book, type Decision, type Lookup, type Operation, refuse, replay } from "../decision.js";
import type { HoldReason } from "../payment.js";
import { type CheckAnswer, type CheckCode, type CheckOutcome, detailOfChecked } from "../payout-check.js";
import type { Transaction } from "../transaction.js";
import type { TransactionId } from "../values/ids.js";
import { NO_REASON, type StatusReason } from "../values/text.js";
import type { UnixMillis } from "../values/time.js";
import { endedWithoutMovement, type Order, orderOf } from "./order.js";
import { failed } from "./outcome.js";
import { effectOf, type PostedStep, postedStep } from "./step.js";

/** Notes what the organization's check said of a redemption, and does it. */
export interface DecideCheck extends Commanded {
  readonly name: "decideCheck";
  readonly transactionId: TransactionId;
  readonly answer: CheckAnswer;
  readonly code: CheckCode | undefined;
  /** The SHA-256 of the request and its answer. Undefined if no answer could be read. */
  readonly exchangeSha256: string | undefined;
}

export const decideCheck: Operation<DecideCheck, Transaction> = { lookup, decide, inSuspension: "always" };

function lookup({ organizationId, transactionId }: DecideCheck, rows: Lookup): void {
  rows.need("payment", transactionId);
  rows.need("payoutCheck", organizationId);
}

/**
 * Ends the wait of a redemption for the check. ALLOW lets it go, unless it waits for something
 * else. HOLD leaves it to persons. DENY fails it, and its KESC is available again. NO_ANSWER is
 * what the check says of it, and HOLD if the check was cleared meanwhile. A redemption that does
 * not wait for the check, because it was decided or has ended, is a replay: the first answer
 * counts.
 *
 * Refuses, in this order: TRANSACTION_NOT_FOUND, PAYMENT_NOT_FOUND.
 */
function decide(book: Book, command: DecideCheck, now: UnixMillis, clock: UnixMillis): Decision<Transaction> {
  const { organizationId, transactionId, answer, code, exchangeSha256 } = command;
  const transaction = book.transaction(organizationId, transactionId);
  if (transaction === undefined) return refuse({ reason: "TRANSACTION_NOT_FOUND", transactionId });
  const order = orderOf(book, organizationId, transactionId);
  if (order === undefined) return refuse({ reason: "PAYMENT_NOT_FOUND", transactionId });
  if (!transaction.heldFor.includes("CHECK")) return replay(transaction);
  const result = answer === "NO_ANSWER" ? (book.payoutCheck(organizationId)?.noAnswer ?? "HOLD") : answer;
  const checked = noted(order, command, { answer, result, code, exchangeSha256 }, now);
  if (result === "DENY") {
    const { account, put, limits } = endedWithoutMovement(book, order, now);
    const reason = (code ?? NO_REASON) as StatusReason;
    const end = failed({ ...order, account }, "CHECK_DENIED", { actor: command.actor, reason, now });
    return { kind: "effect", resource: end.transaction, effect: effectOf([checked, end], [put], limits) };
  }
  const heldFor = transaction.heldFor.flatMap((reason): readonly HoldReason[] =>
    reason !== "CHECK" ? [reason] : result === "HOLD" ? ["CHECK_HELD"] : [],
  );
  return stillHeldOrFree(order, { command, checked, heldFor }, { now, clock });
}

/** The row that says what was asked and answered. It changes nothing. */
function noted(
  { transaction, account }: Order,
  { actor }: DecideCheck,
  said: CheckOutcome,
  now: UnixMillis,
): PostedStep {
  const same = { ...transaction, updatedAt: now };
  return postedStep({
    transaction: same,
    account,
    kind: "transaction.checked",
    actor,
    detail: detailOfChecked(said),
  });
}

function stillHeldOrFree(
  { transaction, account, payment }: Order,
  {
    command: { actor },
    checked,
    heldFor,
  }: { readonly command: DecideCheck; readonly checked: PostedStep; readonly heldFor: readonly HoldReason[] },
  { now, clock }: { readonly now: UnixMillis; readonly clock: UnixMillis },
): Decision<Transaction> {
  const after: Transaction = { ...transaction, heldFor, updatedAt: now };
  if (heldFor.length > 0) {
    const detail = heldFor.join(",");
    const step = postedStep({ transaction: after, account, kind: "transaction.held", actor, detail });
    return { kind: "effect", resource: after, effect: effectOf([checked, step]) };
  }
  const step = postedStep({ transaction: after, account, kind: "transaction.released", actor });
  const row = { ...payment, dueAt: clock, aheadMillis: now - clock, updatedAt: now };
  return { kind: "effect", resource: after, effect: effectOf([checked, step], [{ table: "payments", row }]) };
}
