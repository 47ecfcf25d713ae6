import type { Transaction } from "../../../../src/domain/transaction.js";
import type { TransactionId } from "../../../../src/domain/values/ids.js";
import type { StoredPayment } from "../../../../src/settlement/ports/payments.js";
import { Violation } from "../report/violation.js";
import type { RailWorld } from "./rail-world.js";
import type { SimulatedRail } from "./simulated-rail.js";

/** What the rail, or the bank, has moved for an order. */
export type Truth = Pick<SimulatedRail, "movedFor" | "moved">;

/** The settlement has looked at a message twice, and has asked the rail about it. */
const SEEN_TRIES = 2;

/**
 * KESC and shillings part only under a flag that stands. Throws a Violation if an order has ended,
 * the book has not what the rail has moved, no flag is up, and the settlement has seen a message
 * that says what moved.
 */
export function checkParting(world: RailWorld, rail: Truth): void {
  for (const payment of world.payments.all()) {
    const { transactionId, state } = payment;
    if (state !== "ENDED" || !isTold(world, rail, payment)) continue;
    const apart = apartOf(world, rail, payment);
    if (apart === 0 || flagsOf(world, transactionId).length > 0) continue;
    throw new Violation(`the flags of ${transactionId}, whose book lacks ${String(apart)} cents`, "one", "none");
  }
}

/**
 * Throws a Violation if an order is open without a flag although the settlement has seen a code of
 * which nobody is sure.
 */
export function checkUnclear(world: RailWorld): void {
  for (const { transactionId, state } of world.payments.all()) {
    if (state === "ENDED") continue;
    const unclear = world.inbox.of(transactionId).filter(({ isSettled, body }) => {
      return isSettled && (JSON.parse(body) as { isUnclear?: true }).isUnclear === true;
    });
    if (unclear.length === 0 || flagsOf(world, transactionId).length > 0) continue;
    throw new Violation(`the flags of ${transactionId}, of which nobody is sure`, "one", "none");
  }
}

/**
 * Returns by how much the book differs from what the rail has moved for an order. Throws a
 * Violation if it differs, and no flag is up.
 */
export function apartUnderFlagOf(world: RailWorld, rail: Truth, payment: StoredPayment): number {
  const apart = apartOf(world, rail, payment);
  if (apart === 0 || flagsOf(world, payment.transactionId).length > 0) return apart;
  throw new Violation(`the flags of ${payment.transactionId} in the end, ${String(apart)} cents apart`, "one", "none");
}

/** How much more came in, or less went out, than the book has. */
function apartOf(world: RailWorld, rail: Truth, { transactionId, direction }: StoredPayment): number {
  const moved = rail.movedFor(transactionId).reduce((sum, { cents }) => sum + cents, 0);
  const booked = transactionsOf(world, transactionId)
    .filter(({ status }) => status === "COMPLETED")
    .reduce((sum, { amountCents }) => sum + amountCents, 0);
  return direction === "MINT" ? moved - booked : booked - moved;
}

/**
 * Whether true messages have told all that has become of the order. A second prompt of a COMPLETED
 * order waits until a query confirms it.
 */
function isTold({ inbox }: RailWorld, rail: Truth, { transactionId, status }: StoredPayment): boolean {
  const seen = inbox
    .of(transactionId)
    .filter(({ isSettled, tries }) => isSettled || (tries >= SEEN_TRIES && status === "FAILED"))
    .map(({ body }) => JSON.parse(body) as { kind: string; receipt?: string; isTrue?: boolean })
    .filter(({ isTrue }) => isTrue === true);
  const moved = rail.movedFor(transactionId);
  return moved.length === 0
    ? seen.some(({ kind }) => kind === "failed")
    : moved.every(({ receipt }) => seen.some((report) => report.receipt === receipt));
}

function flagsOf(world: RailWorld, id: TransactionId): readonly string[] {
  return transactionsOf(world, id).flatMap(({ openFlags }) => openFlags);
}

/** The transaction of the order, and its corrections. */
function transactionsOf({ disk }: RailWorld, id: TransactionId): readonly Transaction[] {
  return [...disk.transactions.values()].filter((each) => each.id === id || each.corrects?.transactionId === id);
}
