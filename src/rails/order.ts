import type { DestinationKind, DestinationNumber, MaskedNumber } from "../domain/destination.js";
import type { RailReceipt } from "../domain/payment.js";
import type { TransactionType } from "../domain/transaction.js";
import type { Cents } from "../domain/values/cents.js";
import type { DepositId, TransactionId } from "../domain/values/ids.js";
import type { UnixMillis } from "../domain/values/time.js";

/**
 * What a rail is asked to do for one transaction: to collect shillings for a MINT, or to pay them
 * out for a REDEEM. One transaction is one order, and its id is the order's id at the rail.
 */
export interface RailOrder {
  readonly transactionId: TransactionId;
  readonly direction: TransactionType;
  readonly amountCents: Cents;
  /** What the number is. Only a payout goes to another kind than PHONE. */
  readonly numberKind: DestinationKind;
  /** The number of the payer or of the recipient, as it was when the order was accepted. */
  readonly number: DestinationNumber;
  /** When the service accepted the transaction. */
  readonly acceptedAt: UnixMillis;
}

/**
 * An order that was sent, or that may have been sent, with what is stored about it. It may have
 * ended: then the number is no longer stored.
 */
export interface OpenPayment extends Omit<RailOrder, "number"> {
  readonly maskedNumber: MaskedNumber;
  /** When the service was about to call the rail. */
  readonly begunAt: UnixMillis;
  /** The rail's own name for the order. Undefined if the answer was lost, or had none. */
  readonly railReference: string | undefined;
  /** How often somebody moved the order on by hand. Only the sandbox reads it. */
  readonly advances: number;
}

/** A payment that came in without an order, which the rail is asked to return. */
export interface ReturnablePayment {
  readonly depositId: DepositId;
  /** That of the payment. */
  readonly receipt: RailReceipt;
  readonly amountCents: Cents;
}
