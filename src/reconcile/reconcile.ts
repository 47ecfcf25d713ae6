import type { TransactionId } from "../domain/values/ids.js";
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
 * Compares the movements of a rail with a book. `period` is read after the last movement of the
 * rail, so the file itself may tell it.
 */
export async function reconcile(
  movements: AsyncIterable<readonly UnnamedMovement[]> | Iterable<readonly UnnamedMovement[]>,
  book: BookedMovements,
  period: () => ReconciledPeriod | undefined,
): Promise<Reconciliation> {
  const reconciliation = new Reconciliation(await book.adjusted());
  for await (const slice of movements) {
    const booked = await book.withReceipts(slice.map(({ receipt }) => receipt));
    const byReceipt = new Map(booked.map((each) => [each.receipt, each]));
    const named = await namedBy(
      slice.filter(({ receipt }) => !byReceipt.has(receipt)),
      book,
    );
    for (const { transactionId, idEnd, ...movement } of slice) {
      const transaction = named.get(transactionId ?? "") ?? named.get(idEnd ?? "");
      reconciliation.addRail({ ...movement, transaction }, byReceipt.get(movement.receipt));
    }
  }
  const compared = period();
  if (compared !== undefined) {
    for await (const slice of book.within(compared)) {
      for (const booked of slice) reconciliation.addBooked(booked, compared);
    }
  }
  return reconciliation;
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
