import type { NewIds } from "./deposits/deposit-commands.js";
import type { RailReceipt } from "./payment.js";
import type { Authorized, Commanded } from "./second-person.js";
import type { TransactionId } from "./values/ids.js";
import type { Description, IdempotencyKey, Metadata, StatusReason } from "./values/text.js";

/** Undoes a completed transaction by a new one of the opposite type. */
export interface ReverseTransaction extends Commanded {
  readonly name: "reverseTransaction";
  /** The transaction to undo. */
  readonly transactionId: TransactionId;
  readonly newTransactionId: TransactionId;
  readonly description: Description;
  readonly metadata: Metadata;
  /** What proves that the shillings have moved back. */
  readonly receipt?: RailReceipt | undefined;
  readonly idempotencyKey: IdempotencyKey | undefined;
}

/** The same on the word of an operator, which may need a second person. */
export interface ReverseByOperator extends Authorized {
  readonly name: "reverseTransaction";
  readonly transactionId: TransactionId;
  readonly receipt: RailReceipt | undefined;
  /** The description of the new transaction. */
  readonly note: StatusReason;
  readonly facts: Pick<NewIds, "newTransactionId">;
}
