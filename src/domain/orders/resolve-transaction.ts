import { type BookSums, MAX_SUM_CENTS } from "../book.js";
import { type Change, changes, inWords } from "../change.js";
import { type Book, type Decision, type Lookup, type Operation, refuse, replay } from "../decision.js";
import { refusalByReceipt } from "../movement.js";
import type { Resolution } from "../payment.js";
import { detailOf, type Intent, isApproved, personsOf, standingAfter } from "../proposal.js";
import { isReceiptOf } from "../receipt.js";
import { type Authorized, contentOf, refusalIfOutdated, refusalToApprove } from "../second-person.js";
import type { ResolvedTransaction, Transaction } from "../transaction.js";
import { isOfOperators } from "../values/actor.js";
import { amountText } from "../values/cents.js";
import type { TransactionId } from "../values/ids.js";
import type { StatusReason } from "../values/text.js";
import type { UnixMillis } from "../values/time.js";
import { ended, endedWithoutMovement, type Order, orderOf } from "./order.js";
import { type Attribution, completed, failed, movedLate } from "./outcome.js";
import { effectOf, lastOf, postedStep, type Steps } from "./step.js";

/** Ends a transaction whose outcome the rail does not tell. */
export interface ResolveTransaction extends Authorized {
  readonly name: "resolveTransaction";
  readonly transactionId: TransactionId;
  /** The id of a correction, if the resolution needs one. */
  readonly newTransactionId: TransactionId;
  readonly resolution: Resolution;
  readonly note: StatusReason;
}

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
 * PROPOSAL_OUTDATED (other flags are up), LIMIT_EXCEEDED (of the organization's book).
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

  const shown = changesBy(resolution, transaction);
  // The note is that of the row, and each person has an own one.
  const proposed = { organizationId, actor, authority, name: command.name, transactionId, resolution };
  const content = contentOf({ ...proposed, shown: command.shown ?? shown });
  const lapses = isOfOperators(actor);
  const intent: Intent = { organizationId, subject: transactionId, content, ...authority, lapses };
  const standing = book.proposal(organizationId, transactionId);
  const refusal =
    refusalToApprove(standing, { ...proposed, shown: command.shown }, now) ?? refusalIfOutdated(command, shown);
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

/** A flag says what is known by now. A new one may say that the rail has paid after all. */
function changesBy(resolution: Resolution, { amountCents, openFlags }: Transaction): readonly Change[] {
  const amount = amountText(amountCents);
  const flags = openFlags.map(inWords).join(", ");
  return changes(
    ["transaction", "processing", resolution.kind === "COMPLETED" ? "completed" : "failed"],
    ["amount", amount, resolution.kind === "FAILED" ? "nothing moved" : movedText(resolution, amount)],
    ["receipt", "", resolution.kind === "FAILED" ? "" : resolution.receipt],
    ["flags", flags, flags],
  );
}

function movedText(resolution: Exclude<Resolution, { readonly kind: "FAILED" }>, amount: string): string {
  return resolution.kind === "MOVED" ? amountText(resolution.amountCents) : amount;
}
