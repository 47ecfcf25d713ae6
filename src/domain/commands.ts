import type { Account, AccountWithFreeze } from "./account.js";
import type { Scope, StoredApiKey } from "./api-key.js";
import type { BookHead } from "./book.js";
import type { CorrectBook } from "./book-commands.js";
import type { Deposit } from "./deposit.js";
import type {
  DepositCommand,
  EndReturn,
  NumberAccount,
  NumberedAccount,
  ReceiveDeposit,
  ReceivedShillings,
  RequireReceipts,
} from "./deposits/deposit-commands.js";
import type { Destination } from "./destination.js";
import type { DestinationCommand } from "./destination-commands.js";
import type { FreezeReason } from "./freeze.js";
import type { LimitChanges, TierName } from "./limits/limits.js";
import type {
  FailureReason,
  FlagReason,
  MovementReport,
  RailAccountId,
  RailReceipt,
  RailReference,
  RailTerms,
  Resolution,
} from "./payment.js";
import type { Decider, Proposal } from "./proposal.js";
import type { PayoutMode, RailAccountRecord } from "./rail-account.js";
import type { RailFacts, RecordCharge, WatchRailAccount } from "./rail-commands.js";
import type { ReservePlace } from "./reserve.js";
import type { RecordReserve, SetReserveRules } from "./reserve-commands.js";
import type { RevealAccount } from "./reveal.js";
import type { ReverseByOperator, ReverseTransaction } from "./reverse-commands.js";
import type { Acted, Authorized, Commanded } from "./second-person.js";
import type { Rail, ResolvedTransaction, Transaction } from "./transaction.js";
import type { Cents } from "./values/cents.js";
import type { DepositReference } from "./values/deposit-reference.js";
import type { EmailAddress } from "./values/email-address.js";
import type { AccountId, ApiKeyId, DestinationId, FreezeId, ProposalId, TransactionId } from "./values/ids.js";
import type { PhoneNumber } from "./values/phone-number.js";
import type { Description, IdempotencyKey, Metadata, Reference, StatusReason, UserId } from "./values/text.js";
import type { UnixMillis } from "./values/time.js";

/**
 * A request to change state. Every change is one of these commands. The caller generates the new
 * ids, so a decision stays a pure function.
 */
export type Command = AccountCommand | TransactionCommand | BookCommand | RailCommand;
export type AccountCommand =
  CreateAccount | UpdateAccount | FreezeAccount | CloseAccount | RevealAccount | DestinationCommand;
export type BookCommand = OperatorCommand | RejectProposal;
/** A command of an operator that can wait for a second person. */
export type OperatorCommand =
  | SuspendOrganization
  | ResumeOrganization
  | RequireReceipts
  | CreateApiKey
  | RevokeApiKey
  | SetLimits
  | UnfreezeAccount
  | EraseAccount
  | SetAccountTier
  | SetRailAccount
  | SetDefaultRail
  | SetPayouts
  | RecordReserve
  | SetReserveRules
  | ClearFlag
  | ReverseByOperator
  | CorrectBook
  | DepositCommand;
export type TransactionCommand = MoveMoney | ReverseTransaction | CancelTransaction | PaymentCommand;
/** A command of the settlement. */
export type RailCommand = PaymentCommand | ReceiveDeposit | EndReturn | NumberAccount | RecordCharge | WatchRailAccount;
export type PaymentCommand =
  BeginPayment | AdvancePayment | CompletePayment | FailPayment | FlagTransaction | ResolveTransaction;

/** What a command returns. */
export type Resource = ResourceOf<Command>;

/** The type of resource that a command creates or changes. */
export type ResourceOf<C extends Command> = C extends FreezeAccount
  ? AccountWithFreeze
  : C extends DestinationCommand
    ? Destination
    : C extends NumberAccount
      ? NumberedAccount
      : C extends WatchRailAccount
        ? RailAccountRecord
        : C extends AccountCommand
          ? Account
          : C extends OperatorCommand
            ? Acted<ActedOf<C>>
            : C extends RejectProposal
              ? Proposal
              : C extends ResolveTransaction
                ? ResolvedTransaction
                : C extends ReceiveDeposit
                  ? ReceivedShillings
                  : C extends EndReturn
                    ? Deposit
                    : C extends RecordCharge
                      ? BookHead
                      : Transaction;

/** What an operator's command creates or changes, once it is done. */
export type ActedOf<C extends OperatorCommand> = C extends CreateApiKey | RevokeApiKey
  ? StoredApiKey
  : C extends UnfreezeAccount
    ? AccountWithFreeze
    : C extends EraseAccount | SetAccountTier
      ? Account
      : C extends SetRailAccount | SetPayouts
        ? RailAccountRecord
        : C extends RecordReserve
          ? ReservePlace
          : C extends ClearFlag | ReverseByOperator
            ? Transaction
            : C extends DepositCommand
              ? Deposit
              : BookHead;

export interface CreateAccount extends Commanded {
  readonly name: "createAccount";
  readonly newAccountId: AccountId;
  readonly userId: UserId;
  readonly phoneNumber: PhoneNumber;
  readonly email: EmailAddress;
  /** Random ones: the account gets the first that is free. */
  readonly depositReferences: readonly DepositReference[];
  readonly idempotencyKey: IdempotencyKey | undefined;
}

/** Changes the personal data of an account. Undefined leaves a field as it is. */
export interface UpdateAccount extends Commanded {
  readonly name: "updateAccount";
  readonly accountId: AccountId;
  readonly phoneNumber: PhoneNumber | undefined;
  readonly email: EmailAddress | undefined;
  /** The version that the caller wants to change. Undefined changes any. */
  readonly etag: string | undefined;
}

/** Adds a freeze to the account. */
export interface FreezeAccount extends Commanded {
  readonly name: "freezeAccount";
  readonly newFreezeId: FreezeId;
  readonly accountId: AccountId;
  readonly reason: FreezeReason;
  readonly note: StatusReason;
  readonly idempotencyKey: IdempotencyKey | undefined;
}

/** Lifts one freeze of the account. */
export interface UnfreezeAccount extends Authorized {
  readonly name: "unfreezeAccount";
  readonly accountId: AccountId;
  readonly freezeId: FreezeId;
  readonly note: StatusReason;
}

export interface CloseAccount extends Commanded {
  readonly name: "closeAccount";
  readonly accountId: AccountId;
  readonly note: StatusReason;
  /** The version that the caller wants to close. Undefined closes any. */
  readonly etag: string | undefined;
}

/** Refuses the calls of an organization that write. */
export interface SuspendOrganization extends Authorized {
  readonly name: "suspendOrganization";
  readonly note: StatusReason;
}

/** Ends the suspension of an organization. */
export interface ResumeOrganization extends Authorized {
  readonly name: "resumeOrganization";
  readonly note: StatusReason;
}

export interface CreateApiKey extends Authorized {
  readonly name: "createApiKey";
  readonly newKeyId: ApiKeyId;
  readonly label: string;
  readonly scopes: readonly Scope[];
  /** Undefined for a key that never expires. */
  readonly expiresAt: UnixMillis | undefined;
  /** In hexadecimal. */
  readonly secretSha256: string;
}

/** Revokes an API key for ever. */
export interface RevokeApiKey extends Authorized {
  readonly name: "revokeApiKey";
  readonly keyId: ApiKeyId;
}

/** Erases the personal data of an account, for ever. */
export interface EraseAccount extends Authorized {
  readonly name: "eraseAccount";
  readonly accountId: AccountId;
  readonly note: StatusReason;
}

/** Moves an account to another tier. */
export interface SetAccountTier extends Authorized {
  readonly name: "setAccountTier";
  readonly accountId: AccountId;
  readonly tier: TierName;
  readonly note: StatusReason;
}

/** Ends a proposal. Nothing is done. */
export interface RejectProposal extends Commanded {
  readonly name: "rejectProposal";
  readonly proposalId: ProposalId;
  /** That of the proposal: it names the row. */
  readonly subject: string;
  readonly person: Decider;
  readonly note: StatusReason;
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
  /** Whether the caller has named the rail. Otherwise it is the organization's default one. */
  readonly isRailNamed?: boolean;
  /** Undefined on the direct rail, and on a rail that the organization cannot use. */
  readonly railTerms?: RailTerms | undefined;
  /** What proves that the shillings have moved. Only on the direct rail. */
  readonly receipt?: RailReceipt | undefined;
  /** What a redemption pays, in place of the account's phone number. */
  readonly destinationId?: DestinationId | undefined;
  readonly idempotencyKey: IdempotencyKey | undefined;
}

export interface CancelTransaction extends Commanded {
  readonly name: "cancelTransaction";
  readonly transactionId: TransactionId;
  readonly reason: StatusReason;
}

/** Asks for the permission to ask the rail. */
export interface BeginPayment extends Commanded {
  readonly name: "beginPayment";
  readonly transactionId: TransactionId;
  /** The revision of the account at the rail that the settlement will use. */
  readonly railRevision: number;
  /** When the settlement looks at the payment next, if the rail does not answer. */
  readonly nextCheckAt: UnixMillis;
  /** Whether the rail may have the order already: then it must have an id there (`hasIdAtRail`). */
  readonly isAgain?: boolean;
}

/** What the rail answered to the request of an order. */
export type AdvancePayment = Commanded & {
  readonly transactionId: TransactionId;
  readonly nextCheckAt: UnixMillis;
} & (
    | { readonly name: "acceptPayment"; readonly railReference: RailReference | undefined }
    | {
        readonly name: "postponePayment";
        /** Which request it was: the payment's `sends` when it was allowed. */
        readonly sends: number;
        /** Whether the rail turned it away because of its load, and may have taken it. */
        readonly isTurnedAway: boolean;
      }
  );

/** A rail's report that the shillings of an order have moved. */
export type CompletePayment = Commanded &
  MovementReport & {
    readonly name: "completePayment";
    readonly transactionId: TransactionId;
    /** The id of a correction, if the report needs one. */
    readonly newTransactionId: TransactionId;
    /** Whether a message of the rail says that the same movement failed. */
    readonly isDenied?: boolean;
    readonly reason: StatusReason;
  };

/** A rail's report that the shillings of an order have not moved, and never will. */
export interface FailPayment extends Commanded {
  readonly name: "failPayment";
  readonly transactionId: TransactionId;
  readonly failure: Exclude<FailureReason, "REPORT_DIFFERS" | "RESOLVED_BY_OPERATOR">;
  /**
   * Which request the rail rejected in its answer: the payment's `sends` when it was allowed.
   * Undefined if the failure is that of the order.
   */
  readonly sends?: number;
  readonly reason: StatusReason;
}

/** Notes that a person must look at the transaction. */
export interface FlagTransaction extends Commanded {
  readonly name: "flagTransaction";
  readonly transactionId: TransactionId;
  readonly flag: FlagReason;
  readonly reason: StatusReason;
}

/** Notes that a person has looked at the cause of a flag. */
export interface ClearFlag extends Authorized {
  readonly name: "clearFlag";
  readonly transactionId: TransactionId;
  readonly flag: FlagReason;
  readonly note: StatusReason;
}

/** Ends a transaction whose outcome the rail does not tell. */
export interface ResolveTransaction extends Authorized {
  readonly name: "resolveTransaction";
  readonly transactionId: TransactionId;
  /** The id of a correction, if the resolution needs one. */
  readonly newTransactionId: TransactionId;
  readonly resolution: Resolution;
  readonly note: StatusReason;
}

/** Sets an account at a rail, in place of an earlier one. Payouts stay as they are. */
export interface SetRailAccount extends Authorized {
  readonly name: "setRailAccount";
  /** The id of the earlier account, or a new one. */
  readonly railAccountId: RailAccountId;
  readonly rail: Rail;
  /** A JSON object without secrets. */
  readonly settings: string;
  /**
   * An HMAC of the credentials, whose encrypted form is `sealed`. Undefined if the rail needs none.
   */
  readonly credentialsHmac: string | undefined;
  readonly credentialsExpireAt: UnixMillis | undefined;
  readonly isDefault: boolean;
  readonly beginWithinMillis: number;
  readonly confirmAboveCents: Cents | 0;
  readonly resolveAloneMaxCents: Cents | 0;
  /** Absent in a proposal of an earlier version, as zero. */
  readonly floatMinCents?: Cents | 0;
  readonly note: StatusReason;
  readonly facts: RailFacts;
}

/** Sets the rail of the calls that name none. */
export interface SetDefaultRail extends Authorized {
  readonly name: "setDefaultRail";
  readonly rail: Rail;
  readonly note: StatusReason;
}

/** Sets whether payouts of an account begin. */
export interface SetPayouts extends Authorized {
  readonly name: "setPayouts";
  readonly rail: Rail;
  readonly payouts: PayoutMode;
  readonly note: StatusReason;
  /** Why the settlement closes them: the code with which the rail refuses every payout. */
  readonly lockedCode?: string | undefined;
}

/** Sets limits of the organization, or of the accounts of one tier. */
export interface SetLimits extends Authorized {
  readonly name: "setLimits";
  /** Undefined for the limits of the organization. */
  readonly tier: TierName | undefined;
  /** Undefined removes the limits. Accounts of a removed tier have those of the default tier. */
  readonly changes: LimitChanges | undefined;
  readonly note: StatusReason;
}
