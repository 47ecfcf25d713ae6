import type { LedgerAccount } from "../account.js";
import type { PartBook } from "../book-after.js";
import type { Book, Put } from "../decision.js";
import { type Counted, takenBack } from "../movement.js";
import type { Payment } from "../payment.js";
import type { Transaction } from "../transaction.js";
import type { OrganizationId, TransactionId } from "../values/ids.js";
import type { UnixMillis } from "../values/time.js";

/** A transaction that was given to a rail, with its payment and its account. */
export interface Order {
  readonly transaction: Transaction;
  readonly account: LedgerAccount;
  readonly payment: Payment;
}

/**
 * Returns undefined if the organization has no such transaction, or if it was not given to a rail.
 */
export function orderOf(book: PartBook, organizationId: OrganizationId, id: TransactionId): Order | undefined {
  const transaction = book.transaction(organizationId, id);
  const payment = book.payment(organizationId, id);
  if (transaction === undefined || payment === undefined) return undefined;
  return { transaction, account: accountOf(book, transaction), payment };
}

/** Returns the account of a transaction. A lookup of the transaction loads it. */
export function accountOf(book: Pick<Book, "account">, { id, organizationId, accountId }: Transaction): LedgerAccount {
  const account = book.account(organizationId, accountId);
  if (account === undefined) throw new Error(`${id} refers to ${accountId}, which was not loaded`);
  return account;
}

/** The rows of an order whose payment has ended. */
export interface EndedPayment {
  readonly account: LedgerAccount;
  readonly put: Put<"payments">;
}

export function ended({ account, payment }: Pick<Order, "account" | "payment">, now: UnixMillis): EndedPayment {
  const row: Payment = { ...payment, state: "ENDED", number: undefined, updatedAt: now };
  return {
    account: { ...account, openPayments: account.openPayments - 1 },
    put: { table: "payments", row },
  };
}

/** The rows of an order whose payment has ended without a movement: it counts no longer. */
export type EndedWithoutMovement = EndedPayment & Counted;

export function endedWithoutMovement(book: Pick<Book, "bookOf">, order: Order, now: UnixMillis): EndedWithoutMovement {
  const { account, put } = ended(order, now);
  return { ...takenBack(book, account, order.transaction, now), put };
}
