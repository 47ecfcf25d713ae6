import type { TransactionId } from "../domain/values/ids.js";
import type { OpenPayout } from "./lost-night.js";
import type { BookedMovement, NamedTransaction, ReconciledPeriod } from "./reconciliation.js";

/** Reads what one book has of one rail. */
export interface BookedMovements {
  /** The stored settings of the account at the rail. Undefined if the organization has none. */
  settings(): Promise<string | undefined>;
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
  /** The payouts that the rail has, or may have, and whose outcome is open. */
  openPayouts(): Promise<readonly OpenPayout[]>;
  /** What the book recorded in the period, in its order. */
  within(period: ReconciledPeriod): AsyncIterable<readonly BookedMovement[]>;
}
