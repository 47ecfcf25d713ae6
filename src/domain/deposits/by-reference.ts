import type { LedgerAccount } from "../account.js";
import type { PartBook } from "../book-after.js";
import type { Deposit, DepositReason } from "../deposit.js";
import { refusalByAmount, refusalByLimits } from "../movement.js";
import type { DepositReference } from "../values/deposit-reference.js";
import type { UnixMillis } from "../values/time.js";

/** Returns the account that a deposit with this reference credits, or why there is none. */
export function accountByReference(
  book: Pick<PartBook, "accountWithDepositReference" | "bookOf">,
  { organizationId, amountCents }: Pick<Deposit, "organizationId" | "amountCents">,
  reference: DepositReference | undefined,
  now: UnixMillis,
): LedgerAccount | DepositReason {
  const account = reference === undefined ? undefined : book.accountWithDepositReference(organizationId, reference);
  if (account === undefined) return "UNKNOWN_REFERENCE";
  if (account.status === "CLOSED") return "ACCOUNT_CLOSED";
  const movement = { type: "MINT", amountCents } as const;
  const refusal = refusalByAmount(book, account, movement) ?? refusalByLimits(book, account, movement, now);
  return refusal === undefined ? account : "LIMIT_EXCEEDED";
}
