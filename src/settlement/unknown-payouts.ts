import type { HeldReason } from "../domain/rail-account.js";
import type { UnixMillis } from "../domain/values/time.js";
import { UNKNOWN_PAYOUT_MILLIS_MAX, UNKNOWN_PAYOUTS_MAX } from "./limits.js";
import type { Payments, StoredPayment, UnknownPayouts } from "./ports/payments.js";
import type { RailAccount } from "./ports/rail-accounts.js";

type BrokenAccount = Pick<RailAccount, "id" | "payouts"> & {
  /** Undefined if nobody can use the account. */
  readonly rail: Pick<RailAccount["rail"], "isSandbox"> | undefined;
};

/**
 * Returns the unknown outcomes that hold new payouts of the account to the same kind back. Each
 * kind counts apart: a lost answer about a till says nothing about phones. None does where a person
 * has decided, nor in a sandbox: there each unknown outcome is somebody's test.
 */
export async function tooManyUnknown(
  payments: Pick<Payments, "unknownPayouts">,
  { id, payouts, rail }: BrokenAccount,
  now: UnixMillis,
): Promise<readonly UnknownPayouts[]> {
  if (payouts !== "auto" || rail?.isSandbox === true) return [];
  const unknown = await payments.unknownPayouts(id);
  return unknown.filter(({ count, oldestBegunAt }) => {
    const isOld = oldestBegunAt !== undefined && now - oldestBegunAt >= UNKNOWN_PAYOUT_MILLIS_MAX;
    return count >= UNKNOWN_PAYOUTS_MAX || isOld;
  });
}

/** Returns why a payout does not begin. Undefined if it may, and once the rail may have it. */
export async function heldReasonOf(
  payments: Pick<Payments, "unknownPayouts">,
  account: BrokenAccount,
  { payment, now }: { payment: Pick<StoredPayment, "state" | "direction" | "numberKind">; now: UnixMillis },
): Promise<HeldReason | undefined> {
  if (payment.state !== "READY" || payment.direction !== "REDEEM") return undefined;
  if (account.payouts === "closed") return "PAYOUTS_CLOSED";
  const stopping = await tooManyUnknown(payments, account, now);
  return stopping.some(({ kind }) => kind === payment.numberKind) ? "OUTCOMES_UNKNOWN" : undefined;
}

/** Returns the number of payouts that some have. */
export function countOf(unknown: readonly UnknownPayouts[]): number {
  return unknown.reduce((sum, { count }) => sum + count, 0);
}
