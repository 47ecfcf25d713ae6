import type { BookAccount } from "../domain/journal.js";
import type { SumsAt } from "./ports.js";

/** The rows of an account from one of its marks to the next. */
export const ACCOUNT_MARK_ROWS = 64;

/** The sums of a book after one of its rows. All marks up to this row exist. */
export interface BookMark extends SumsAt {
  readonly book: number;
}

/** The row of an account that gets a mark. */
export interface MarkedAccount {
  readonly seq: number;
  readonly accountId: string;
}

/** A row of the journal, as the marker reads it. */
export interface MarkRow {
  readonly seq: number;
  readonly previous_seq: number | null;
  readonly account_id: string | null;
  readonly debit: BookAccount | null;
  readonly credit: BookAccount | null;
  readonly amount_cents: number | null;
}

/** The marks of one cell. Each call rejects with a StoreError if the database fails. */
export interface MarkStore {
  /**
   * Resolves with the last mark of the first book past `afterBook` that has `rowsMin` rows after
   * its last mark. A book without a mark has the mark 0.
   */
  next(afterBook: number, rowsMin: number): Promise<BookMark | undefined>;
  rows(book: number, range: { readonly afterSeq: number; readonly upToSeq: number }): Promise<readonly MarkRow[]>;
  /** Counts the rows of each account from the row `seq` back to its newest mark. */
  countsBefore(book: number, rows: readonly MarkedAccount[]): Promise<ReadonlyMap<string, number>>;
  /** Saves a mark of a book, with the marks of accounts before it. */
  save(mark: BookMark, accounts: readonly MarkedAccount[]): Promise<void>;
}
