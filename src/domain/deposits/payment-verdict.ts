import type { LedgerAccount } from "../account.js";
import type { BookHead } from "../book.js";
import { refusalByAmount, refusalByLimits, refusalByStatus } from "../movement.js";
import type { Cents } from "../values/cents.js";
import type { UnixMillis } from "../values/time.js";

/** A payment without an order that a rail is about to move. */
export interface PaymentByHand {
  /** What the payer typed. Empty if there is nothing. */
  readonly reference: string;
  /** Undefined if nobody can read it. */
  readonly amountCents: Cents | undefined;
}

/**
 * Whether a payment could be credited at once:
 *
 * - no account: the reference names none, or one that is closed or frozen.
 * - wrong amount: it cannot be read, or would exceed a limit.
 */
export type PaymentVerdict = "can be credited" | "no account" | "wrong amount";

/**
 * Says whether a payment could be credited to the account at `now`. It promises nothing: the
 * account may change before the shillings arrive, and then they become a deposit that waits.
 */
export function verdictOf(
  { head, account }: { readonly head: BookHead; readonly account: LedgerAccount | undefined },
  { amountCents }: Pick<PaymentByHand, "amountCents">,
  now: UnixMillis,
): PaymentVerdict {
  if (account === undefined || refusalByStatus(account) !== undefined) return "no account";
  if (amountCents === undefined) return "wrong amount";
  const book = { bookOf: () => head };
  const movement = { type: "MINT", amountCents } as const;
  const refusal = refusalByAmount(book, account, movement) ?? refusalByLimits(book, account, movement, now);
  return refusal === undefined ? "can be credited" : "wrong amount";
}
