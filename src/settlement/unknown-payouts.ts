import { BEGIN_HELD_REASONS, type HeldReason } from "../domain/rail-account.js";
import { millisSince, type UnixMillis } from "../domain/values/time.js";
import { UNKNOWN_PAYOUT_MILLIS_MAX, UNKNOWN_PAYOUTS_MAX } from "./limits.js";
import type { Payments, StoredPayment, UnknownPayouts } from "./ports/payments.js";
import type { RailAccount } from "./ports/rail-accounts.js";

type BrokenAccount = Pick<RailAccount, "id" | "payouts" | "refused"> & {
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
  { id, payouts, rail }: Omit<BrokenAccount, "refused">,
  now: UnixMillis,
): Promise<readonly UnknownPayouts[]> {
  if (payouts !== "auto" || rail?.isSandbox === true) return [];
  const unknown = await payments.unknownPayouts(id);
  return unknown.filter(({ count, oldestBegunAt }) => {
    const isOld = oldestBegunAt !== undefined && millisSince(oldestBegunAt, now) >= UNKNOWN_PAYOUT_MILLIS_MAX;
    return count >= UNKNOWN_PAYOUTS_MAX || isOld;
  });
}

type HeldPayment = Pick<StoredPayment, "state" | "direction" | "numberKind" | "lastCode">;

/** Returns why a payout does not begin. Undefined if it may, and once the rail may have it. */
export async function heldReasonOf(
  payments: Pick<Payments, "unknownPayouts">,
  account: BrokenAccount,
  { payment, isFrozen, now }: { payment: HeldPayment; isFrozen: boolean; now: UnixMillis },
): Promise<HeldReason | undefined> {
  if (payment.state !== "READY" || payment.direction !== "REDEEM") return undefined;
  if (account.payouts === "closed") return "PAYOUTS_CLOSED";
  if (account.refused !== undefined) return "CREDENTIALS_REFUSED";
  const stopping = await tooManyUnknown(payments, account, now);
  if (stopping.some(({ kind }) => kind === payment.numberKind)) return "OUTCOMES_UNKNOWN";
  if (isFrozen) return "ACCOUNT_FROZEN";
  // What the ledger said at the last look. A look follows at once when a person has ended it.
  return BEGIN_HELD_REASONS.find((reason) => reason !== "ACCOUNT_FROZEN" && reason === payment.lastCode);
}

/** Returns the number of payouts that some have. */
export function countOf(unknown: readonly UnknownPayouts[]): number {
  return unknown.reduce((sum, { count }) => sum + count, 0);
}
