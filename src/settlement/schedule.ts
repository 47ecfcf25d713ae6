import { hasIdAtRail } from "../domain/payment.js";
import { millisSince, toUnixMillis, type UnixMillis } from "../domain/values/time.js";
import type { OpenPayment, RailOrder } from "../rails/order.js";
import type { PaymentRail } from "../rails/rail.js";
import { SEND_AGAIN_MILLIS_MAX, UNKNOWN_MILLIS_MAX, UNREACHED_MILLIS_MAX } from "./limits.js";
import type { StoredPayment } from "./ports/payments.js";
import type { RailAccount } from "./ports/rail-accounts.js";

/** Returns the wait before the next query, after `checks` of them. */
export function checkMillis({ checkAfterMillis }: PaymentRail, checks: number): number {
  return checkAfterMillis[Math.min(checks, checkAfterMillis.length - 1)] ?? UNKNOWN_MILLIS_MAX;
}

/** Returns the wait before an order is sent again that did not reach the rail. */
export function unreachedMillis(retryAfterMillis: number, sends: number): number {
  const backedOff = Math.min(retryAfterMillis * 2 ** (sends - 1), UNREACHED_MILLIS_MAX);
  return Math.max(retryAfterMillis, backedOff);
}

/** When a payment that waits is looked at again: a mint no later than when it expires. */
export function laterUnlessItExpires(
  payment: StoredPayment,
  account: RailAccount,
  { now, millis }: { now: UnixMillis; millis: number },
): UnixMillis {
  const later = now + millis;
  const expiresAt = payment.acceptedAt + account.beginWithinMillis;
  const isBefore = payment.direction === "MINT" && expiresAt > now && expiresAt < later;
  return toUnixMillis(isBefore ? expiresAt : later);
}

/** Whether the payer no longer waits for a prompt. A payout never expires. */
export function isExpired(payment: StoredPayment, account: RailAccount, now: UnixMillis): boolean {
  return payment.direction === "MINT" && millisSince(payment.acceptedAt, now) >= account.beginWithinMillis;
}

/**
 * Whether the outcome is unknown for so long that a person must look. An order of the sandbox that
 * is open although somebody has advanced it has no next step: nobody will ever know.
 */
export function isUnknownTooLong(payment: StoredPayment, now: UnixMillis): boolean {
  return payment.advances > 0 || millisSince(begunAtOf(payment), now) >= UNKNOWN_MILLIS_MAX;
}

/**
 * Whether an order that the rail may have can be sent once more. A payout to a phone has an id that
 * the rail refuses to take twice, for a while. A prompt has none, nor has a payout to a business: a
 * second one could be paid, too. A query must have had the time to find out first.
 */
export function maySendAgain(payment: StoredPayment, now: UnixMillis): boolean {
  const { checks, begunAt } = payment;
  return (
    hasIdAtRail(payment) && checks > 0 && begunAt !== undefined && millisSince(begunAt, now) < SEND_AGAIN_MILLIS_MAX
  );
}

/** Undefined once the payment has ended: then the number is gone. */
export function orderOf(payment: StoredPayment): RailOrder | undefined {
  const { transactionId, direction, amountCents, numberKind, number, acceptedAt } = payment;
  return number === undefined ? undefined : { transactionId, direction, amountCents, numberKind, number, acceptedAt };
}

/** The payment as its rail knows it. */
export function openPaymentOf(payment: StoredPayment): OpenPayment {
  const { transactionId, direction, amountCents, numberKind, maskedNumber, acceptedAt } = payment;
  const { railReference, advances } = payment;
  const order = { transactionId, direction, amountCents, numberKind, maskedNumber, acceptedAt };
  return { ...order, begunAt: begunAtOf(payment), railReference, advances };
}

/** A message may come for an order that was never begun, for example in a restored book. */
function begunAtOf({ begunAt, acceptedAt }: StoredPayment): UnixMillis {
  return begunAt ?? acceptedAt;
}
