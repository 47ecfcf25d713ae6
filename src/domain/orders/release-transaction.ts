import { type Authorized, WIDENS_ALONE } from "../authority.js";
import { changes, inWords } from "../change.js";
import { NOTHING_TOUCHES } from "../deciding-rows.js";
import { type Book, type Decision, type Lookup, type Operation, refuse, replay } from "../decision.js";
import { type HoldReason, needsTwo } from "../payment.js";
import { payoutFileIn } from "../payout-file.js";
import { type Decider, isSamePerson } from "../proposal.js";
import type { Proposed } from "../proposed.js";
import { withSecondPerson } from "../second-person.js";
import type { Transaction } from "../transaction.js";
import type { TransactionId } from "../values/ids.js";
import type { StatusReason } from "../values/text.js";
import type { UnixMillis } from "../values/time.js";
import { endedWithoutMovement, type Order, orderOf } from "./order.js";
import { failed } from "./outcome.js";
import { effectOf, postedStep } from "./step.js";

interface DecideHeld extends Authorized {
  readonly transactionId: TransactionId;
  readonly note: StatusReason;
  /**
   * The file of payouts that the transaction names. The look-up needs it, and the decision compares
   * it with the transaction.
   */
  readonly payoutFile: string | undefined;
}

/** Lets a redemption that was held go to its rail. */
export interface ReleaseTransaction extends DecideHeld {
  readonly name: "releaseTransaction";
}

/** Ends a redemption that was held. */
export interface RefuseTransaction extends DecideHeld {
  readonly name: "refuseTransaction";
}

type HeldDecision = ReleaseTransaction | RefuseTransaction;

const operation: Operation<HeldDecision, Transaction> = { lookup, decide, inSuspension: "of operators" };

/**
 * The person who decides is the second one: somebody else has asked for the redemption. Where a
 * check or the list wants persons, these are two beside that one, under every policy.
 */
export const releaseTransaction = withSecondPerson<ReleaseTransaction, Transaction>(operation, byWhom("released"));
export const refuseTransaction = withSecondPerson<RefuseTransaction, Transaction>(operation, byWhom("refused"));

function byWhom(after: string): Proposed<HeldDecision> {
  // The operation has refused a transaction that is not there.
  const heldFor = ({ organizationId, transactionId }: HeldDecision, book: Book): readonly HoldReason[] =>
    (book.transaction(organizationId, transactionId) as Transaction).heldFor;
  return {
    groupOf: (command, book) => (needsTwo(heldFor(command, book)) ? WIDENS_ALONE : undefined),
    changesOf: (command, book) =>
      changes([`payout ${command.transactionId}`, `held for ${heldFor(command, book).map(inWords).join(", ")}`, after]),
    // It is released or refused once. Why it is held is shown.
    touchedBy: NOTHING_TOUCHES,
  };
}

function lookup({ organizationId, transactionId, payoutFile }: HeldDecision, rows: Lookup): void {
  rows.need("payment", transactionId);
  if (payoutFile !== undefined) rows.need("payoutFile", { organizationId, name: payoutFile });
}

/**
 * Releases or refuses a redemption that is held. A released one is due at once, and everything that
 * keeps a payout from its rail holds for it. A refused one is FAILED, and its KESC is available
 * again. For an order that is not held, a release is a replay, and so is the same refusal.
 *
 * Refuses, in this order: TRANSACTION_NOT_FOUND, PAYMENT_NOT_FOUND, TRANSACTION_ALREADY_ENDED,
 * INVALID_TRANSITION (to refuse what was released), OWN_PAYOUT.
 */
function decide(book: Book, command: HeldDecision, now: UnixMillis, clock: UnixMillis): Decision<Transaction> {
  const { name, organizationId, transactionId, authority } = command;
  const transaction = book.transaction(organizationId, transactionId);
  // Metadata never changes. With others, the caller has read no such transaction.
  if (transaction === undefined || payoutFileIn(transaction.metadata) !== command.payoutFile) {
    return refuse({ reason: "TRANSACTION_NOT_FOUND", transactionId });
  }
  const order = orderOf(book, organizationId, transactionId);
  if (order === undefined) return refuse({ reason: "PAYMENT_NOT_FOUND", transactionId });
  const { status, failure, heldFor } = transaction;
  if (heldFor.length === 0) {
    const isReleased = status !== "FAILED" && status !== "CANCELED";
    if (name === "releaseTransaction" ? isReleased : failure === "REFUSED_BY_OPERATOR") return replay(transaction);
    return status === "PENDING" || status === "PROCESSING"
      ? refuse({ reason: "INVALID_TRANSITION", from: status, to: "FAILED" })
      : refuse({ reason: "TRANSACTION_ALREADY_ENDED", transactionId, status });
  }
  const asker = askerOf(book, command);
  if (asker !== undefined && isSamePerson(asker, authority.person)) {
    return refuse({ reason: "OWN_PAYOUT", transactionId });
  }
  return name === "releaseTransaction" ? released(order, command, { now, clock }) : refused(book, order, command, now);
}

/**
 * Returns the person who has asked for the redemption: who proposed the file that it pays a row of.
 * Undefined if an API key has asked for it, which is no person.
 */
function askerOf(book: Book, { organizationId, payoutFile }: HeldDecision): Decider | undefined {
  const file = payoutFile === undefined ? undefined : book.payoutFile(organizationId, payoutFile);
  // The proposer stands first.
  return file?.approvedBy.split(",")[0] as Decider | undefined;
}

function released(
  { transaction, account, payment }: Order,
  { actor, note: reason }: HeldDecision,
  { now, clock }: { readonly now: UnixMillis; readonly clock: UnixMillis },
): Decision<Transaction> {
  const free: Transaction = { ...transaction, heldFor: [], updatedAt: now };
  const step = postedStep({ transaction: free, account, kind: "transaction.released", actor, reason });
  const row = { ...payment, dueAt: clock, aheadMillis: now - clock, updatedAt: now };
  return { kind: "effect", resource: free, effect: effectOf([step], [{ table: "payments", row }]) };
}

function refused(
  book: Book,
  order: Order,
  { actor, note: reason }: HeldDecision,
  now: UnixMillis,
): Decision<Transaction> {
  const { account, put, limits } = endedWithoutMovement(book, order, now);
  const end = failed({ ...order, account }, "REFUSED_BY_OPERATOR", { actor, reason, now });
  return { kind: "effect", resource: end.transaction, effect: effectOf([end], [put], limits) };
}
