import type { LedgerAccount } from "../account.js";
import type { Deposit, TypedReference } from "../deposit.js";
import type { RailAccountId, RailReceipt } from "../payment.js";
import type { Authorized, Commanded } from "../second-person.js";
import type { Rail, Transaction } from "../transaction.js";
import type { Cents } from "../values/cents.js";
import type { DepositReference } from "../values/deposit-reference.js";
import type { AccountId, DepositId, TransactionId } from "../values/ids.js";
import type { MaskedPhone } from "../values/masked-phone.js";
import type { IdempotencyKey, StatusReason } from "../values/text.js";
import type { UnixMillis } from "../values/time.js";

/** A command of an operator about a deposit. */
export type DepositCommand = RecordDeposit | AssignDeposit | UnassignDeposit | ReturnDeposit | ReverseDeposit;

/** What shillings that came in have become: a deposit, or a payment of an order. */
export interface ReceivedShillings {
  readonly deposit: Deposit | undefined;
  /** The mint that credits the deposit, or that belongs to the order. */
  readonly transaction: Transaction | undefined;
}

/** What NumberAccount returns. */
export interface NumberedAccount {
  readonly account: LedgerAccount;
}

/** Gives a deposit reference to an account from before there were such references. */
export interface NumberAccount extends Commanded {
  readonly name: "numberAccount";
  readonly accountId: AccountId;
  /** Random ones: the account gets the first that is free. */
  readonly depositReferences: readonly DepositReference[];
}

/** Shillings that the rail says it has received for the organization. */
export interface ReceiveDeposit extends Commanded {
  readonly name: "receiveDeposit";
  readonly newDepositId: DepositId;
  /** The id of the mint that credits the deposit, or of a correction of the order. */
  readonly newTransactionId: TransactionId;
  readonly rail: Rail;
  readonly railAccountId: RailAccountId;
  readonly receipt: RailReceipt;
  readonly amountCents: Cents;
  /** Empty if the payer typed nothing. */
  readonly typedReference: TypedReference;
  /** The order of this account at the rail whose reference the payer typed. */
  readonly orderId: TransactionId | undefined;
  /** The receipts that the rail lists for the same reference. */
  readonly confirmedReceipts: readonly RailReceipt[];
  readonly phone: MaskedPhone | undefined;
  readonly paidAt: UnixMillis | undefined;
  /** Set if a caller creates the deposit, in a sandbox: its receipt is new, or the same again. */
  readonly creation?: { readonly idempotencyKey: IdempotencyKey | undefined };
}

/** New ids of a command that can wait for a second person. They are no content. */
export interface NewIds {
  readonly newDepositId: DepositId;
  readonly newTransactionId: TransactionId;
}

/** Records shillings that came in, and that no rail reports: on the word of an operator. */
export interface RecordDeposit extends Authorized {
  readonly name: "recordDeposit";
  readonly receipt: RailReceipt;
  readonly amountCents: Cents;
  /** The account that gets them. Without one, they stay unallocated. */
  readonly accountId: AccountId | undefined;
  readonly note: StatusReason;
  readonly facts: NewIds;
}

/** Credits a whole deposit to one account. */
export interface AssignDeposit extends Authorized {
  readonly name: "assignDeposit";
  readonly depositId: DepositId;
  readonly accountId: AccountId;
  readonly note: StatusReason;
  readonly facts: NewIds;
}

/** Takes the credit of a deposit back. */
export interface UnassignDeposit extends Authorized {
  readonly name: "unassignDeposit";
  readonly depositId: DepositId;
  /** The mint to undo: it names the account, which the ledger locks before it reads the deposit. */
  readonly transactionId: TransactionId;
  readonly note: StatusReason;
  readonly facts: NewIds;
}

/** Says that an unallocated deposit went back to its payer, or wants the rail to return it. */
export interface ReturnDeposit extends Authorized {
  readonly name: "returnDeposit";
  readonly depositId: DepositId;
  /** That of the return. Undefined: the rail is asked to return the deposit. */
  readonly receipt: RailReceipt | undefined;
  readonly note: StatusReason;
}

/** Says what became of a return that the rail was asked for. */
export interface EndReturn extends Commanded {
  readonly name: "endReturn";
  readonly depositId: DepositId;
  /** When the deposit became RETURNING: a later return has another time. */
  readonly begunAt: UnixMillis;
  /** That of the return. Undefined if the rail has refused it. */
  readonly receipt: RailReceipt | undefined;
  /** The code of the refusal. */
  readonly reason: StatusReason;
}

/** Says that the rail took a deposit back, also one that is credited. */
export interface ReverseDeposit extends Authorized {
  readonly name: "reverseDeposit";
  readonly depositId: DepositId;
  /** The mint that has credited it, as in UnassignDeposit. Undefined if it is unallocated. */
  readonly transactionId: TransactionId | undefined;
  /** That of the reversal. */
  readonly receipt: RailReceipt;
  readonly note: StatusReason;
  readonly facts: NewIds;
}

/** Sets whether a mint on the direct rail needs a receipt. */
export interface RequireReceipts extends Authorized {
  readonly name: "requireReceipts";
  readonly isRequired: boolean;
  readonly note: StatusReason;
}
