import type { Account } from "./account.js";
import type { Actor } from "./journal.js";
import type { Rail, Transaction } from "./transaction.js";
import type { Cents } from "./values/cents.js";
import type { EmailAddress } from "./values/email-address.js";
import type { AccountId, OrganizationId, TransactionId } from "./values/ids.js";
import type { PhoneNumber } from "./values/phone-number.js";
import type { Description, IdempotencyKey, Metadata, Reference, StatusReason, UserId } from "./values/text.js";

/**
 * A request to change state. Every change is one of these commands. The caller generates the new
 * ids, so a decision stays a pure function.
 */
export type Command = AccountCommand | TransactionCommand;
export type AccountCommand = CreateAccount | UpdateAccount | ChangeAccountStatus | EraseAccount;
export type TransactionCommand = MoveMoney | ReverseTransaction | CancelTransaction;

/** The type of resource that a command creates or changes. */
export type ResourceOf<C extends Command> = C extends AccountCommand ? Account : Transaction;

interface Commanded {
  readonly organizationId: OrganizationId;
  readonly actor: Actor;
}

export interface CreateAccount extends Commanded {
  readonly name: "createAccount";
  readonly newAccountId: AccountId;
  readonly userId: UserId;
  readonly phoneNumber: PhoneNumber;
  readonly email: EmailAddress;
  readonly idempotencyKey: IdempotencyKey | undefined;
}

/** Changes the personal data of an account. Undefined leaves a field as it is. */
export interface UpdateAccount extends Commanded {
  readonly name: "updateAccount";
  readonly accountId: AccountId;
  readonly phoneNumber: PhoneNumber | undefined;
  readonly email: EmailAddress | undefined;
}

export interface ChangeAccountStatus extends Commanded {
  readonly name: "freezeAccount" | "unfreezeAccount" | "closeAccount";
  readonly accountId: AccountId;
  readonly reason: StatusReason;
}

/** Erases the personal data of an account, for ever. */
export interface EraseAccount extends Commanded {
  readonly name: "eraseAccount";
  readonly accountId: AccountId;
  readonly reason: StatusReason;
}

export interface MoveMoney extends Commanded {
  readonly name: "mint" | "redeem";
  readonly newTransactionId: TransactionId;
  readonly accountId: AccountId;
  readonly amountCents: Cents;
  readonly reference: Reference;
  readonly description: Description;
  readonly metadata: Metadata;
  readonly rail: Rail;
  readonly idempotencyKey: IdempotencyKey | undefined;
}

/** Undoes a completed transaction by a new one of the opposite type. */
export interface ReverseTransaction extends Commanded {
  readonly name: "reverseTransaction";
  /** The transaction to undo. */
  readonly transactionId: TransactionId;
  readonly newTransactionId: TransactionId;
  readonly description: Description;
  readonly metadata: Metadata;
  readonly idempotencyKey: IdempotencyKey | undefined;
}

export interface CancelTransaction extends Commanded {
  readonly name: "cancelTransaction";
  readonly transactionId: TransactionId;
  readonly reason: StatusReason;
}
