import { type BookSums, MAX_SUM_CENTS } from "../book.js";
import type { ResolveTransaction } from "../commands.js";
import { type Book, type Decision, type Lookup, type Operation, refuse, replay } from "../decision.js";
import { refusalByReceipt } from "../movement.js";
import { ended, endedWithoutMovement, type Order, orderOf } from "../orders/order.js";
import { type Attribution, completed, failed, movedLate } from "../orders/outcome.js";
import { effectOf, lastOf, postedStep, type Steps } from "../orders/step.js";
import type { RailReceipt, Resolution } from "../payment.js";
import { detailOf, type Intent, isApproved, personsOf, standingAfter } from "../proposal.js";
import { isReceiptOf } from "../receipt.js";
import { refusalToApprove } from "../second-person.js";
import type { ResolvedTransaction, Transaction } from "../transaction.js";
import { isOfOperators } from "../values/actor.js";
import type { Cents } from "../values/cents.js";
import type { UnixMillis } from "../values/time.js";

export const resolveTransaction: Operation<ResolveTransaction, ResolvedTransaction> = {
  lookup,
  decide,
  inSuspension: "of operators",
};

function lookup({ organizationId, transactionId, resolution }: ResolveTransaction, rows: Lookup): void {
  rows.need("order", transactionId);
  rows.need("proposal", transactionId);
  rows.need("railAccounts", organizationId);
  if (resolution.kind !== "FAILED") rows.need("receipt", { organizationId, name: resolution.receipt });
}

/** For so long after a begin the request may be on its way. It is more than a server takes. */
const REQUEST_MILLIS_MAX = 60_000;

/**
 * Ends a PROCESSING transaction on the word of a person. Above what the account at the rail lets
 * one person do, another one must have proposed the same. Otherwise the resolution is noted as a
 * proposal, and the transaction stays PROCESSING. The same resolution again is a replay. The row
 * that ends it names the persons. A proposal of an API key does not lapse.
 *
 * FAILED is refused while the request may be on its way to the rail: the rail could still pay.
 *
 * MOVED ends the transaction as FAILED, and books what really moved as a correction.
 *
 * Refuses, in this order: TRANSACTION_NOT_FOUND, PAYMENT_NOT_FOUND, TRANSACTION_ALREADY_ENDED,
 * INVALID_TRANSITION, RECEIPT_OF_OTHER_RAIL, RECEIPT_ALREADY_USED, those of `refusalToApprove`,
 * LIMIT_EXCEEDED (of the organization's book).
 */
function decide(book: Book, command: ResolveTransaction, now: UnixMillis): Decision<ResolvedTransaction> {
  const { organizationId, transactionId, resolution, authority, actor, note: reason } = command;
  const order = orderOf(book, organizationId, transactionId);
  if (order === undefined) {
    const isThere = book.transaction(organizationId, transactionId) !== undefined;
    return refuse({ reason: isThere ? "PAYMENT_NOT_FOUND" : "TRANSACTION_NOT_FOUND", transactionId });
  }
  const { transaction, account, payment } = order;
  const { status } = transaction;
  const to = resolution.kind === "COMPLETED" ? "COMPLETED" : "FAILED";
  if (status !== "PROCESSING") {
    if (status === "PENDING") return refuse({ reason: "INVALID_TRANSITION", from: status, to });
    const same = resolved(book, transaction, resolution);
    return same === undefined ? refuse({ reason: "TRANSACTION_ALREADY_ENDED", transactionId, status }) : replay(same);
  }
  const isOnItsWay = payment.state === "SENDING" && now - payment.updatedAt < REQUEST_MILLIS_MAX;
  if (resolution.kind === "FAILED" && isOnItsWay) return refuse({ reason: "INVALID_TRANSITION", from: status, to });
  if (resolution.kind !== "FAILED") {
    const { rail } = transaction;
    if (!isReceiptOf(rail, resolution.receipt)) return refuse({ reason: "RECEIPT_OF_OTHER_RAIL", rail });
    const refusal = refusalByReceipt(book, organizationId, resolution.receipt);
    if (refusal !== undefined) return refuse(refusal);
  }

  const content = contentOf(resolution);
  const lapses = isOfOperators(actor);
  const intent: Intent = { organizationId, subject: transactionId, content, ...authority, lapses };
  const standing = book.proposal(organizationId, transactionId);
  const refusal = refusalToApprove(standing, { authority, content, now });
  if (refusal !== undefined) return refuse(refusal);
  const movedCents = resolution.kind === "MOVED" ? resolution.amountCents : transaction.amountCents;
  const railAccount = book.railAccounts(organizationId).find(({ id }) => id === payment.railAccountId);
  const aloneMaxCents = railAccount?.resolveAloneMaxCents ?? 0;
  const isOneEnough = Math.max(transaction.amountCents, movedCents) <= aloneMaxCents;
  if (!isApproved(standing, intent, { isOneEnough, now })) {
    const proposal = standingAfter(standing, intent, now);
    if (proposal === standing) return replay({ ...without(transaction), proposal });
    const proposed: Transaction = { ...transaction, updatedAt: now };
    const kind = "transaction.resolution_proposed";
    const step = postedStep({ transaction: proposed, account, kind, actor, reason, detail: detailOf(intent) });
    const effect = effectOf([step], [{ table: "proposals", row: proposal }]);
    return { kind: "effect", resource: { ...without(proposed), proposal }, effect };
  }

  const end =
    resolution.kind === "COMPLETED"
      ? { ...ended(order, now), limits: undefined }
      : endedWithoutMovement(book, order, now);
  const { sums } = book.bookOf(organizationId);
  const persons = personsOf(standing, intent, now);
  const steps = resolve({ ...order, account: end.account }, command, { actor, reason, now, persons, sums });
  if (steps === undefined) {
    return refuse({ reason: "LIMIT_EXCEEDED", accountId: undefined, limitCents: MAX_SUM_CENTS });
  }
  const last = lastOf(steps).transaction;
  const resource = resolution.kind === "MOVED" ? { ...without(steps[0].transaction), correction: last } : without(last);
  return { kind: "effect", resource, effect: effectOf(steps, [end.put], end.limits) };
}

function without(transaction: Transaction): ResolvedTransaction {
  return { ...transaction, correction: undefined, proposal: undefined };
}

function resolve(
  { transaction, account }: Omit<Order, "payment">,
  { resolution, newTransactionId }: ResolveTransaction,
  attribution: Attribution & { sums: BookSums },
): Steps | undefined {
  switch (resolution.kind) {
    case "COMPLETED":
      return completed({ transaction, account }, { movement: undefined, receipt: resolution.receipt }, attribution);
    case "FAILED":
      return [failed({ transaction, account }, "RESOLVED_BY_OPERATOR", attribution)];
    case "MOVED": {
      const { receipt, amountCents } = resolution;
      const end = failed({ transaction, account }, "REPORT_DIFFERS", attribution);
      const late = { newTransactionId, proof: { movement: undefined, receipt }, amountCents };
      const moved = movedLate(end, late, attribution);
      return moved === undefined ? undefined : [end, ...moved];
    }
  }
}

/** Returns the transaction if the same resolution ended it earlier. */
function resolved(book: Book, transaction: Transaction, resolution: Resolution): ResolvedTransaction | undefined {
  switch (resolution.kind) {
    case "COMPLETED":
      return transaction.status === "COMPLETED" && transaction.railReceipt === resolution.receipt
        ? without(transaction)
        : undefined;
    case "FAILED":
      return transaction.failure === "RESOLVED_BY_OPERATOR" ? without(transaction) : undefined;
    case "MOVED": {
      const correction = book
        .lateCorrections(transaction.organizationId, transaction.id)
        .find((late) => late.railReceipt === resolution.receipt && late.amountCents === resolution.amountCents);
      return correction === undefined ? undefined : { ...without(transaction), correction };
    }
  }
}

function contentOf(resolution: Resolution): string {
  switch (resolution.kind) {
    case "COMPLETED":
      return JSON.stringify(["COMPLETED", resolution.receipt]);
    case "FAILED":
      return JSON.stringify(["FAILED"]);
    case "MOVED":
      return JSON.stringify(["MOVED", resolution.receipt, resolution.amountCents]);
  }
}

/** Returns the resolution with this content. Undefined if no resolution has it. */
export function resolutionFrom(content: string): Resolution | undefined {
  const [kind, receipt, amountCents] = JSON.parse(content) as readonly [string, RailReceipt, Cents];
  switch (kind) {
    case "COMPLETED":
      return { kind, receipt };
    case "FAILED":
      return { kind };
    case "MOVED":
      return { kind, receipt, amountCents };
    default:
      return undefined;
  }
}
