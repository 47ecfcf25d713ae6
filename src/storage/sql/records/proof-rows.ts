import type { UsedReceipt } from "../../../domain/decision.js";
import { readDepositDetail } from "../../../domain/deposit.js";
import type { RailMovement, RailReceipt } from "../../../domain/payment.js";
import type { TransactionId } from "../../../domain/values/ids.js";
import type { UsedMovement } from "../../../ledger/ports/store.js";
import type { RowOf } from "../../../model/column.js";
import type { JOURNAL } from "../../../model/transactions.js";
import type { OpenBook } from "../book-directory.js";

/**
 * A row of the journal that has a receipt. `transaction_id` is null if the receipt belongs to a
 * deposit, or to a correction of the book.
 */
export type ReceiptRow = Pick<RowOf<typeof JOURNAL>, "book" | "transaction_id" | "kind" | "detail"> & {
  readonly rail_receipt: string;
};

/** A row of `transactions` that has a movement. */
export interface MovementRow {
  readonly book: number;
  readonly rail_movement: string;
  readonly transaction_id: string;
}

export function usedReceiptOf(row: ReceiptRow, { organizationId }: OpenBook): UsedReceipt {
  return {
    organizationId,
    receipt: row.rail_receipt as RailReceipt,
    transactionId: (row.transaction_id ?? undefined) as TransactionId | undefined,
    depositId: row.kind.startsWith("deposit.") ? readDepositDetail(row.detail ?? "").id : undefined,
  };
}

export function usedMovementOf(row: MovementRow, { organizationId }: OpenBook): UsedMovement {
  return {
    organizationId,
    movement: row.rail_movement as RailMovement,
    transactionId: row.transaction_id as TransactionId,
  };
}
