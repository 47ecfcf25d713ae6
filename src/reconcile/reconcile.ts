import { isOfCharges } from "../domain/receipt.js";
import type { TransactionId } from "../domain/values/ids.js";
import type { UnixMillis } from "../domain/values/time.js";
import type { BookedMovements } from "./ports.js";
import {
  type NamedTransaction,
  type RailMovementRow,
  type ReconciledPeriod,
  Reconciliation,
} from "./reconciliation.js";

/** A movement of the rail, with the names that the rail has for its transaction. */
export interface UnnamedMovement extends Omit<RailMovementRow, "transaction"> {
  /** The whole id of the transaction. */
  readonly transactionId: TransactionId | undefined;
  /** The last characters of the transaction's id, in lower case. */
  readonly idEnd: string | undefined;
}

/**
 * What was compared: the movements, and apart from them what the rail took for its work. The book
 * has charges when a statement tells them, so only those of the statement are compared.
 */
export interface Reconciled {
  readonly movements: Reconciliation;
  readonly charges: Reconciliation;
}

/**
 * Compares the movements and charges of a rail with a book. `period` is read after the last
 * movement of the rail, so the file itself may tell it. `tieAt` is the moment of the tie.
 */
export async function reconcile(
  movements: AsyncIterable<readonly UnnamedMovement[]> | Iterable<readonly UnnamedMovement[]>,
  book: BookedMovements,
  { period, tieAt }: { readonly period: () => ReconciledPeriod | undefined; readonly tieAt?: UnixMillis | undefined },
): Promise<Reconciled> {
  const adjusted = await book.adjusted();
  const reconciled = { movements: new Reconciliation(adjusted, tieAt), charges: new Reconciliation(adjusted, tieAt) };
  for await (const slice of movements) {
    const booked = await book.withReceipts(slice.map(({ receipt }) => receipt));
    const byReceipt = new Map(booked.map((each) => [each.receipt, each]));
    const named = await namedBy(
      slice.filter(({ receipt }) => !byReceipt.has(receipt)),
      book,
    );
    for (const { transactionId, idEnd, ...movement } of slice) {
      const transaction = named.get(transactionId ?? "") ?? named.get(idEnd ?? "");
      const compared = isOfCharges(movement.receipt) ? reconciled.charges : reconciled.movements;
      compared.addRail({ ...movement, transaction }, byReceipt.get(movement.receipt));
    }
  }
  const compared = period();
  if (compared !== undefined) {
    for await (const slice of book.within(compared)) {
      for (const booked of slice) reconciled.movements.addBooked(booked, compared);
    }
  }
  return reconciled;
}

/** Returns the transactions that the movements name, by their ids and by the ends of their ids. */
async function namedBy(
  movements: readonly UnnamedMovement[],
  book: BookedMovements,
): Promise<ReadonlyMap<string, NamedTransaction>> {
  const ids = movements.flatMap(({ transactionId }) => (transactionId === undefined ? [] : [transactionId]));
  const ends = movements.flatMap(({ idEnd }) => (idEnd === undefined ? [] : [idEnd]));
  const byId = await book.transactions([...new Set(ids)]);
  const byEnd = await book.transactionsEndingWith([...new Set(ends)]);
  return new Map([
    ...byId.map((transaction) => [transaction.id as string, transaction] as const),
    ...byEnd.flatMap((transaction) =>
      ends.filter((end) => transaction.id.endsWith(end)).map((end) => [end, transaction] as const),
    ),
  ]);
}
