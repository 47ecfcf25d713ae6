import type { RailReceipt } from "../domain/payment.js";
import type { Cents } from "../domain/values/cents.js";
import type { UnixMillis } from "../domain/values/time.js";

/** How a rail writes the statement of an account, as CSV. */
export interface StatementFormat {
  /** The columns that a header must have. */
  readonly columns: readonly string[];
  /** How many lines may come before the header. */
  readonly linesBeforeHeaderMax: number;
  /** Reads a row by the names of its columns. A column that is not there is empty. */
  readRow(cell: (column: string) => string): ReadRow;
}

/** What one row of a statement says. */
export type ReadRow =
  | { readonly kind: "row"; readonly row: StatementRow }
  /** Nothing moved, or not yet. */
  | { readonly kind: "not_completed" }
  | { readonly kind: "bad"; readonly column: string; readonly problem: string };

export interface StatementRow {
  readonly receipt: RailReceipt;
  readonly completedAt: UnixMillis;
  readonly direction: "in" | "out";
  readonly amountCents: Cents;
  /** The rail's own charge, which is no movement of the book. */
  readonly isCharge: boolean;
  /** The id of the transaction, if the row names it. */
  readonly transactionId: string | undefined;
  /** The last characters of the transaction's id, in lower case, if the row names only these. */
  readonly idEnd: string | undefined;
}
