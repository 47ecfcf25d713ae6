import type { Authorized, NewIds } from "../authority.js";
import { type BookSums, MAX_SUM_CENTS } from "../book.js";
import type { PartBook } from "../book-after.js";
import { type Change, changes, inWords } from "../change.js";
import { NOTHING_TOUCHES } from "../deciding-rows.js";
import { type Book, type Decision, type Lookup, type Operation, refuse, replay } from "../decision.js";
import { needReceipt, refusalByReceipt } from "../movement.js";
import type { Resolution } from "../payment.js";
import { isReceiptOf } from "../receipt.js";
import { isOfPlace } from "../reserve.js";
import { withSecondPerson } from "../second-person.js";
import { BANK_RAIL, type ResolvedTransaction, type Transaction } from "../transaction.js";
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
  readonly resolution: Resolution;
  /** The id of a correction, if the resolution needs one, and the own words of each person. */
  readonly facts: Pick<NewIds, "newTransactionId"> & { readonly note: StatusReason };
}

const operation: Operation<ResolveTransaction, ResolvedTransaction> = {
  lookup,
  decide: decideResolution,
  inSuspension: "of operators",
};

export const resolveTransaction = withSecondPerson(operation, {
  subjectOf: ({ transactionId }) => transactionId,
  namesPersons: true,
  judged: (command, book) => {
    const { organizationId, resolution } = command;
    const { transaction, payment } = openOrderOf(command, book);
    const movedCents = resolution.kind === "MOVED" ? resolution.amountCents : transaction.amountCents;
    const railAccount = book.railAccounts(organizationId).find(({ id }) => id === payment.railAccountId);
    const amountCents = Math.max(transaction.amountCents, movedCents);
    return { amountCents, maxCents: railAccount?.resolveAloneMaxCents ?? 0 };
  },
  changesOf: (command, book) => changesBy(command.resolution, openOrderOf(command, book).transaction),
  // Its flags are shown, and none comes down while it is open.
  touchedBy: NOTHING_TOUCHES,
  noted: (book, command, { detail, now }) => {
    const { transaction, account } = openOrderOf(command, book);
    const { actor, facts } = command;
    const kind = "transaction.resolution_proposed";
    const proposed = { ...transaction, updatedAt: now };
    return effectOf([postedStep({ transaction: proposed, account, kind, actor, reason: facts.note, detail })]);
  },
});

/** The operation has refused an order that is not open. */
function openOrderOf({ organizationId, transactionId }: ResolveTransaction, book: Book): Order {
  return orderOf(book, organizationId, transactionId) as Order;
}

function lookup({ organizationId, transactionId, resolution }: ResolveTransaction, rows: Lookup): void {
  rows.need("order", transactionId);
  if (resolution.kind === "FAILED") return;
  needReceipt(rows, organizationId, resolution.receipt);
  if (isReceiptOf(BANK_RAIL, resolution.receipt)) rows.need("reservePlaces", organizationId);
}

/** For so long after a begin the request may be on its way. It is more than a server takes. */
const REQUEST_MILLIS_MAX = 60_000;

/**
 * Ends a PROCESSING transaction on the word of a person. The same resolution again is a replay. The
 * rows that end it name the persons.
 *
 * FAILED is refused while the request may be on its way to the rail: the rail could still pay.
 *
 * MOVED ends the transaction as FAILED, and books what really moved as a correction.
 *
 * Refuses, in this order: TRANSACTION_NOT_FOUND, PAYMENT_NOT_FOUND, TRANSACTION_ALREADY_ENDED,
 * INVALID_TRANSITION, RECEIPT_OF_OTHER_RAIL, RECEIPT_ALREADY_USED, LIMIT_EXCEEDED (of the
 * organization's book).
 */
export function decideResolution(
  book: PartBook,
  command: ResolveTransaction,
  now: UnixMillis,
): Decision<ResolvedTransaction> {
  const { organizationId, transactionId, resolution, authority, actor, facts } = command;
  const order = orderOf(book, organizationId, transactionId);
  if (order === undefined) {
    const isThere = book.transaction(organizationId, transactionId) !== undefined;
    return refuse({ reason: isThere ? "PAYMENT_NOT_FOUND" : "TRANSACTION_NOT_FOUND", transactionId });
  }
  const { transaction, payment } = order;
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
    const { receipt } = resolution;
    // One of a misspelled place would not be the one of the bank's statement.
    const isOfRail =
      isReceiptOf(rail, receipt) && (rail !== BANK_RAIL || isOfPlace(book.reservePlaces(organizationId), receipt));
    if (!isOfRail) return refuse({ reason: "RECEIPT_OF_OTHER_RAIL", rail });
    const refusal = refusalByReceipt(book, organizationId, receipt);
    if (refusal !== undefined) return refuse(refusal);
  }

  const end =
    resolution.kind === "COMPLETED"
      ? { ...ended(order, now), limits: undefined }
      : endedWithoutMovement(book, order, now);
  const { sums } = book.bookOf(organizationId);
  const { person, proposer } = authority;
  const persons = proposer === undefined ? [person] : [proposer, person];
  const attribution = { actor, reason: facts.note, now, persons, sums };
  const steps = resolve({ ...order, account: end.account }, command, attribution);
  if (steps === undefined) {
    return refuse({ reason: "LIMIT_EXCEEDED", accountId: undefined, limitCents: MAX_SUM_CENTS });
  }
  const last = lastOf(steps).transaction;
  const resource = resolution.kind === "MOVED" ? { ...without(steps[0].transaction), correction: last } : without(last);
  return { kind: "effect", resource, effect: effectOf(steps, [end.put], end.limits) };
}

function without(transaction: Transaction): ResolvedTransaction {
  return { ...transaction, correction: undefined };
}

function resolve(
  { transaction, account }: Omit<Order, "payment">,
  { resolution, facts: { newTransactionId } }: ResolveTransaction,
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
function resolved(book: PartBook, transaction: Transaction, resolution: Resolution): ResolvedTransaction | undefined {
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
