import type { TransactionId } from "../domain/values/ids.js";
import type { BookedMovement, NamedTransaction, ReconciledPeriod } from "./reconciliation.js";

/** Reads what one book has of one rail. */
export interface BookedMovements {
  /** What the book has under these receipts, at any time. */
  withReceipts(receipts: readonly string[]): Promise<readonly (BookedMovement & { readonly receipt: string })[]>;
  /** The transactions with these ids that were given to the rail. */
  transactions(ids: readonly TransactionId[]): Promise<readonly NamedTransaction[]>;
  /** The mints of the rail whose ids end with one of these texts of 12 characters. */
  transactionsEndingWith(ends: readonly string[]): Promise<readonly NamedTransaction[]>;
  /**
   * What operators have added to movements, by receipt or by the id of the transaction. What went
   * out is negative.
   */
  adjusted(): Promise<ReadonlyMap<string, number>>;
  /** What the book recorded in the period, in its order. */
  within(period: ReconciledPeriod): AsyncIterable<readonly BookedMovement[]>;
}
