import { typeidUnboxed } from "typeid-js";

import { slicesOf } from "../../../runtime/slices.js";
import type { CompletePayment } from "../../domain/orders/complete-payment.js";
import type { FlagReason } from "../../domain/payment.js";
import type { Rail, TransactionStatus } from "../../domain/transaction.js";
import type { Actor } from "../../domain/values/actor.js";
import type { OrganizationId, TransactionId } from "../../domain/values/ids.js";
import { NO_REASON } from "../../domain/values/text.js";
import { messageOf } from "../../grpc/errors/status.js";
import type { ReceivedPayment } from "../../rails/rail.js";
import type { BookedMovements } from "../../reconcile/ports.js";
import { type NamedTransaction, railDecides } from "../../reconcile/reconciliation.js";
import { SLICE_ROWS } from "../../reconcile/statement-movements.js";
import { OperatorError } from "../../startup/operator-error.js";
import type { Cell } from "../../storage/database.js";
import { commitAsOperator } from "../commit-as-operator.js";

/** A payment that was told to the ledger, and what the ledger made of it. */
export interface AppliedPayment {
  readonly receipt: string;
  readonly transactionId: TransactionId;
  readonly status: TransactionStatus;
  /** The flags that are up: empty if the ledger has booked the payment. */
  readonly openFlags: readonly FlagReason[];
}

interface ApplyOptions {
  readonly cell: Cell;
  readonly organizationId: OrganizationId;
  /** The rail that says so: the author in the journal. */
  readonly rail: Rail;
  readonly book: BookedMovements;
}

/**
 * Tells the ledger each payment that the book lacks and that names a mint of the book, as if its
 * callback had come. The ledger books it once or raises a flag, so a second run changes nothing.
 */
export async function applyReceived(
  payments: readonly ReceivedPayment[],
  options: ApplyOptions,
): Promise<readonly AppliedPayment[]> {
  const { book } = options;
  const listed = new Set<string>(payments.map(({ receipt }) => receipt));
  const applied: AppliedPayment[] = [];
  for (const slice of slicesOf(payments, SLICE_ROWS)) {
    const booked = new Set(
      (await book.withReceipts(slice.map(({ receipt }) => receipt))).map(({ receipt }) => receipt),
    );
    const lacking = slice.filter(({ receipt }) => !booked.has(receipt));
    const named = await namedBy(lacking, book);
    for (const payment of lacking) {
      const [transaction, another] = named(payment);
      if (transaction === undefined || another !== undefined || !railDecides(transaction, listed)) continue;
      applied.push(await apply(payment, transaction, options));
    }
  }
  return applied;
}

/** Returns a function that finds the transactions which a payment names: as a rule, one or none. */
async function namedBy(
  payments: readonly ReceivedPayment[],
  book: BookedMovements,
): Promise<(payment: ReceivedPayment) => readonly NamedTransaction[]> {
  const ends = payments.flatMap(({ idEnd }) => idEnd ?? []);
  const transactions = await book.transactionsEndingWith([...new Set(ends)]);
  return ({ idEnd }) => (idEnd === undefined ? [] : transactions.filter(({ id }) => id.endsWith(idEnd)));
}

async function apply(
  { receipt, amountCents, phone }: ReceivedPayment,
  { id: transactionId }: NamedTransaction,
  { cell, organizationId, rail }: ApplyOptions,
): Promise<AppliedPayment> {
  const command: CompletePayment = {
    name: "completePayment",
    organizationId,
    actor: rail as string as Actor,
    transactionId,
    movement: undefined,
    receipt,
    amountCents,
    phone,
    newTransactionId: typeidUnboxed("txn") as string as TransactionId,
    reason: NO_REASON,
  };
  const outcome = await commitAsOperator(cell, command);
  if (outcome.kind === "refused") throw new OperatorError(`${receipt}: ${messageOf(outcome.refusal)}`);
  const { id, status, openFlags } = outcome.resource;
  return { receipt, transactionId: id, status, openFlags };
}
