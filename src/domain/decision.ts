import type { AccountHolder, LedgerAccount } from "./account.js";
import type { PersonalSum } from "./alone.js";
import type { StoredApiKey } from "./api-key.js";
import type { ApprovedBankFile, BankFileId } from "./bank-file.js";
import type { BookHead } from "./book.js";
import type { Closing } from "./closing.js";
import type { Deposit } from "./deposit.js";
import type { Destination } from "./destination.js";
import type { Freeze } from "./freeze.js";
import type { DecidingRow, JournalEntry } from "./journal.js";
import type { LimitsInForce } from "./limits/usage.js";
import type { PersonChange } from "./operator.js";
import type { Payment, RailAccountId, RailMovement, RailReceipt } from "./payment.js";
import type { PayoutCheck } from "./payout-check.js";
import type { ApprovedPayoutFile } from "./payout-file.js";
import type { ListedText } from "./payout-list.js";
import type { AlonePerson, Proposal } from "./proposal.js";
import type { RailAccountRecord } from "./rail-account.js";
import type { ReceiptNumber } from "./receipt.js";
import type { Refusal } from "./refusal.js";
import type { ReservePlace } from "./reserve.js";
import type { Transaction } from "./transaction.js";
import type { Actor } from "./values/actor.js";
import type { DepositReference } from "./values/deposit-reference.js";
import type {
  AccountId,
  ApiKeyId,
  DepositId,
  DestinationId,
  FreezeId,
  OrganizationId,
  TransactionId,
  WebhookEndpointId,
} from "./values/ids.js";
import type { Month } from "./values/month.js";
import type { IdempotencyKey, Reference, UserId } from "./values/text.js";
import type { UnixMillis } from "./values/time.js";
import type { Endpoint, EndpointRecord, EndpointRetry } from "./webhook-endpoint.js";

/** A name that one row of an organization has. */
export interface NameOf<Name extends string> {
  readonly organizationId: OrganizationId;
  readonly name: Name;
}

/** The key of what all cells of the database have together. */
export const ALL_CELLS = "all cells";

/** The ways to find the rows that a decision may read, and the key of each. */
export interface FinderKeys {
  readonly account: AccountId;
  readonly accountHolder: AccountId;
  /** The freezes of the account that have not ended. */
  readonly fullAccount: AccountId;
  /** The account, its holder and its standing freezes. */
  readonly accountOfUser: NameOf<UserId>;
  readonly accountWithDepositReference: NameOf<DepositReference>;
  readonly freeze: FreezeId;
  /** The transaction and its account. */
  readonly transaction: TransactionId;
  readonly transactionWithReference: NameOf<Reference>;
  readonly payment: TransactionId;
  readonly paymentWithReference: NameOf<Reference>;
  /** The corrections that book what a rail reported late about the order. */
  readonly order: TransactionId;
  /** The receipt, and the deposit that has it. */
  readonly receipt: NameOf<RailReceipt>;
  /** The receipts with the number whose source is a caller's word. */
  readonly receiptNumber: NameOf<ReceiptNumber>;
  readonly deposit: DepositId;
  readonly idempotencyKeyOfDeposit: NameOf<IdempotencyKey>;
  /** The sum of the organization's deposits that are UNALLOCATED or RETURNING. */
  readonly unallocatedDeposits: OrganizationId;
  readonly movement: NameOf<RailMovement>;
  /** The subject of a proposal. */
  readonly proposal: string;
  /** The proposals of operators that are not decided. */
  readonly waitingProposals: OrganizationId;
  /**
   * The rows that may outdate or close the proposal about this subject, or one of an operator that
   * waits: those of the `DECIDING_KINDS` that are newer than the oldest of these proposals.
   */
  readonly decidingRows: NameOf<string>;
  readonly apiKey: ApiKeyId;
  /** The SHA-256 of a key's secret, in hexadecimal. */
  readonly apiKeyWithHash: string;
  /** The key, and the resource that it refers to. */
  readonly idempotencyKey: NameOf<IdempotencyKey>;
  /** The holder and the standing freezes of the account that the key refers to. */
  readonly idempotencyKeyOfAccount: NameOf<IdempotencyKey>;
  readonly idempotencyKeyOfFreeze: NameOf<IdempotencyKey>;
  readonly idempotencyKeyOfPayment: NameOf<IdempotencyKey>;
  /** The accounts that the organization has at rails. */
  readonly railAccounts: OrganizationId;
  /** The number of payments that the account at the rail may have, and whose outcome is open. */
  readonly paymentsUnderWay: RailAccountId;
  /** How often the accounts at rails of all cells were set or changed. The key is `ALL_CELLS`. */
  readonly railAccountsOfCells: typeof ALL_CELLS;
  /** What lies in the places of the organization. */
  readonly reservePlaces: OrganizationId;
  /** The SHA-256 of a file of payouts. */
  readonly payoutFile: NameOf<string>;
  /** The rows of the journal about a payment file for a bank. */
  readonly bankFile: NameOf<BankFileId>;
  readonly destination: DestinationId;
  /** The destinations of the account that are not removed. */
  readonly destinationsOfAccount: AccountId;
  readonly idempotencyKeyOfDestination: NameOf<IdempotencyKey>;
  /** The newest rows with which the person looked at personal data, in all books of the cell. */
  readonly reveals: Actor;
  /** The newest act that the person did alone, by amount. */
  readonly aloneSum: NameOf<AlonePerson>;
  /** The row that closed the month. */
  readonly closedMonth: NameOf<Month>;
  /** The check of the organization's payouts. */
  readonly payoutCheck: OrganizationId;
  /** When the newest paid redemption to the destination, or to the account's own number, began. */
  readonly paidTo: NameOf<DestinationId | AccountId>;
  /** What the organization's list has of the account, or of the destination. */
  readonly listed: NameOf<DestinationId | AccountId>;
  /** The hash of a list that the command may set. */
  readonly payoutList: NameOf<string>;
  readonly webhookEndpoint: WebhookEndpointId;
  /** The webhook endpoints of the organization that are not deleted. */
  readonly webhookEndpoints: OrganizationId;
  /** The events that the endpoint was not sent, and those that were asked for again. */
  readonly webhookRetries: WebhookEndpointId;
}

export type Finder = keyof FinderKeys;

/** Finders that find more rows with the same key. A decision reads these, too. */
export const ALSO_FOUND: { readonly [Of in Finder]?: readonly FinderWith<FinderKeys[Of]>[] } = {
  accountHolder: ["account"],
  fullAccount: ["accountHolder"],
  payment: ["transaction"],
  paymentWithReference: ["transactionWithReference"],
  order: ["payment"],
  idempotencyKeyOfDeposit: ["idempotencyKey"],
  idempotencyKeyOfAccount: ["idempotencyKey"],
  idempotencyKeyOfFreeze: ["idempotencyKey"],
  idempotencyKeyOfPayment: ["idempotencyKey"],
  destinationsOfAccount: ["account"],
  idempotencyKeyOfDestination: ["idempotencyKey"],
};

type FinderWith<Key> = { readonly [Of in Finder]: Key extends FinderKeys[Of] ? Of : never }[Finder];

/** Names the rows that a decision may read. The ledger loads and locks them before it decides. */
export interface Lookup {
  need<Of extends Finder>(finder: Of, key: FinderKeys[Of]): void;
}

/**
 * The state before a command. Returns undefined for a row of another organization, as for a row
 * that does not exist.
 */
export interface Book {
  /** The state and the sums of the organization's book. */
  bookOf(organizationId: OrganizationId): BookHead;
  account(organizationId: OrganizationId, id: AccountId): LedgerAccount | undefined;
  accountHolder(organizationId: OrganizationId, id: AccountId): AccountHolder | undefined;
  accountWithDepositReference(organizationId: OrganizationId, reference: DepositReference): LedgerAccount | undefined;
  accountHolderOfUser(organizationId: OrganizationId, userId: UserId): AccountHolder | undefined;
  freeze(organizationId: OrganizationId, id: FreezeId): Freeze | undefined;
  /** The freezes of the account that stand, oldest first. */
  standingFreezes(organizationId: OrganizationId, id: AccountId): readonly Freeze[];
  transaction(organizationId: OrganizationId, id: TransactionId): Transaction | undefined;
  transactionWithReference(organizationId: OrganizationId, reference: Reference): Transaction | undefined;
  /** Undefined for a transaction that was not given to a rail. */
  payment(organizationId: OrganizationId, id: TransactionId): Payment | undefined;
  /** The accounts at rails. No change of them is committed before this command. */
  railAccounts(organizationId: OrganizationId): readonly RailAccountRecord[];
  /** The number of payments that the account at the rail may have, and whose outcome is open. */
  paymentsUnderWay(id: RailAccountId): number;
  /** A text that changes with each change of an account at a rail in the cell. */
  railAccountsOfCells(): string;
  /** What the person did alone, by amount, in the day of the newest such act. */
  aloneSum(organizationId: OrganizationId, person: AlonePerson): PersonalSum | undefined;
  reservePlaces(organizationId: OrganizationId): readonly ReservePlace[];
  closedMonth(organizationId: OrganizationId, month: Month): Closing | undefined;
  /**
   * When the newest redemption was accepted that a rail has paid to the destination, or to the
   * account's own phone number.
   */
  paidTo(organizationId: OrganizationId, id: DestinationId | AccountId): UnixMillis | undefined;
  /** The check of the organization's payouts. Undefined if it has none. */
  payoutCheck(organizationId: OrganizationId): PayoutCheck | undefined;
  /**
   * Whether the organization's list has one of the texts, which are those of the account or the
   * destination. A text that was not looked up counts as listed: this batch has changed it.
   */
  isListed(organizationId: OrganizationId, texts: readonly ListedText[], id: DestinationId | AccountId): boolean;
  /** The file of payouts that was approved. */
  payoutFile(organizationId: OrganizationId, sha256: string): ApprovedPayoutFile | undefined;
  /** The payment file for a bank that was approved. */
  bankFile(organizationId: OrganizationId, id: BankFileId): ApprovedBankFile | undefined;
  /** The transactions that book what a rail reported after the transaction had ended. */
  lateCorrections(organizationId: OrganizationId, id: TransactionId): readonly Transaction[];
  /** Who has the receipt. Undefined if the book does not have it. */
  receipt(organizationId: OrganizationId, receipt: RailReceipt): UsedReceipt | undefined;
  /**
   * Who has the number under a source that is a caller's word. Of several, that with the first
   * receipt in the order of the alphabet.
   */
  receiptOfOtherSource(organizationId: OrganizationId, number: ReceiptNumber): UsedReceipt | undefined;
  deposit(organizationId: OrganizationId, id: DepositId): Deposit | undefined;
  /** The deposit whose shillings the receipt proves. */
  depositWithReceipt(organizationId: OrganizationId, receipt: RailReceipt): Deposit | undefined;
  /** The sum of the organization's deposits that are UNALLOCATED or RETURNING. */
  unallocatedDepositCents(organizationId: OrganizationId): number;
  transactionWithMovement(organizationId: OrganizationId, movement: RailMovement): TransactionId | undefined;
  proposal(organizationId: OrganizationId, subject: string): Proposal | undefined;
  /** The proposals of operators that are not decided, also those that have lapsed. */
  undecidedProposals(organizationId: OrganizationId): readonly Proposal[];
  /** The rows that the finder of this name finds, in the order of their `seq`. */
  decidingRows(organizationId: OrganizationId, subject: string): readonly DecidingRow[];
  apiKey(organizationId: OrganizationId, id: ApiKeyId): StoredApiKey | undefined;
  apiKeyWithHash(organizationId: OrganizationId, secretSha256: string): StoredApiKey | undefined;
  /** The resource that the first call with this key created. */
  resourceOfIdempotencyKey(organizationId: OrganizationId, key: IdempotencyKey): ResourceId | undefined;
  destination(organizationId: OrganizationId, id: DestinationId): Destination | undefined;
  /**
   * When the person looked at personal data in the cell, oldest first: the newest times, and at
   * least as many as are allowed in an hour.
   */
  reveals(actor: Actor): readonly UnixMillis[];
  /** The destinations of the account that are not removed. */
  destinations(organizationId: OrganizationId, id: AccountId): readonly Destination[];
  webhookEndpoint(organizationId: OrganizationId, id: WebhookEndpointId): EndpointRecord | undefined;
  /** The webhook endpoints that are not deleted. */
  webhookEndpoints(organizationId: OrganizationId): readonly Endpoint[];
  webhookRetries(organizationId: OrganizationId, id: WebhookEndpointId): readonly EndpointRetry[];
}

/** The id of a resource that an idempotency key can refer to. */
export type ResourceId = AccountId | TransactionId | FreezeId | DestinationId | DepositId;

/** A receipt that the book has. */
export interface UsedReceipt {
  readonly organizationId: OrganizationId;
  readonly receipt: RailReceipt;
  /** Undefined if the receipt belongs to a deposit, or to a correction of the book. */
  readonly transactionId: TransactionId | undefined;
  readonly depositId: DepositId | undefined;
}

/** An idempotency key and the resource that it refers to. */
export interface UsedIdempotencyKey {
  readonly organizationId: OrganizationId;
  readonly key: IdempotencyKey;
  readonly resourceId: ResourceId;
  readonly createdAt: UnixMillis;
}

/** The tables that commands write, apart from the journal, and the type of a row of each. */
export interface Tables {
  readonly accounts: LedgerAccount;
  readonly accountHolders: AccountHolder;
  readonly freezes: Freeze;
  readonly transactions: Transaction;
  readonly payments: Payment;
  readonly deposits: Deposit;
  readonly proposals: Proposal;
  readonly apiKeys: StoredApiKey;
  readonly railAccounts: RailAccountRecord;
  readonly reservePlaces: ReservePlace;
  readonly payoutFiles: ApprovedPayoutFile;
  readonly idempotencyKeys: UsedIdempotencyKey;
  readonly destinations: Destination;
  readonly webhookEndpoints: EndpointRecord;
  readonly webhookRetries: EndpointRetry;
}

export type TableName = keyof Tables;

/** How the rows of a table are found. */
export interface TableKeys<Row> {
  readonly keyOf: (row: Row) => string;
  /** A second unique name of the row. Undefined for a row without a name. */
  readonly nameOf?: (row: Row) => string | undefined;
  /** The name of the group to which the row belongs. It never changes. */
  readonly groupOf?: (row: Row) => string | undefined;
  /** Whether a decision that reads the group sees the row. All when omitted. */
  readonly isSeen?: (row: Row) => boolean;
  /** Whether a row that somebody has changed past the service is refused. */
  readonly refusesChanged?: true;
}

/** The keys of each table. */
export const TABLE_KEYS: { readonly [Name in TableName]: TableKeys<Tables[Name]> } = {
  accounts: {
    keyOf: ({ id }) => id,
    nameOf: ({ organizationId, depositReference }) =>
      depositReference === undefined ? undefined : nameIn(organizationId, depositReference),
    refusesChanged: true,
  },
  accountHolders: {
    keyOf: ({ accountId }) => accountId,
    nameOf: ({ organizationId, person, isOpen }) =>
      person === undefined || !isOpen ? undefined : nameIn(organizationId, person.userId),
  },
  freezes: {
    keyOf: ({ id }) => id,
    groupOf: ({ accountId }) => accountId,
    isSeen: ({ lifted }) => lifted === undefined,
  },
  transactions: {
    keyOf: ({ id }) => id,
    nameOf: ({ organizationId, reference }) => nameIn(organizationId, reference),
    groupOf: ({ corrects }) => (corrects?.kind === "LATE" ? corrects.transactionId : undefined),
    refusesChanged: true,
  },
  payments: { keyOf: ({ transactionId }) => transactionId },
  deposits: {
    keyOf: ({ id }) => id,
    nameOf: ({ organizationId, receipt }) => nameIn(organizationId, receipt),
    refusesChanged: true,
  },
  proposals: {
    keyOf: ({ subject }) => subject,
    groupOf: ({ organizationId }) => organizationId,
    isSeen: ({ decided, expiresAt }) => decided === undefined && expiresAt !== undefined,
  },
  apiKeys: { keyOf: ({ id }) => id, nameOf: ({ secretSha256 }) => secretSha256 },
  railAccounts: { keyOf: ({ id }) => id, groupOf: ({ organizationId }) => organizationId },
  reservePlaces: {
    keyOf: ({ organizationId, place }) => nameIn(organizationId, place),
    groupOf: ({ organizationId }) => organizationId,
  },
  payoutFiles: {
    keyOf: ({ organizationId, sha256 }) => nameIn(organizationId, sha256),
    nameOf: ({ organizationId, sha256 }) => nameIn(organizationId, sha256),
    refusesChanged: true,
  },
  idempotencyKeys: { keyOf: ({ organizationId, key }) => nameIn(organizationId, key) },
  destinations: {
    keyOf: ({ id }) => id,
    groupOf: ({ accountId }) => accountId,
    isSeen: ({ removedAt }) => removedAt === undefined,
  },
  webhookEndpoints: { keyOf: ({ id }) => id, groupOf: ({ organizationId }) => organizationId },
  webhookRetries: {
    keyOf: ({ endpointId, seq }) => `${endpointId} ${String(seq)}`,
    groupOf: ({ endpointId }) => endpointId,
  },
};

export const TABLE_NAMES = Object.keys(TABLE_KEYS) as TableName[];

/** Returns an object with a value for each table. */
export function ofEachTable<Value>(valueOf: (name: TableName) => Value): Record<TableName, Value> {
  const values: Partial<Record<TableName, Value>> = {};
  // Faster than Object.fromEntries: every batch calls this three times.
  for (const name of TABLE_NAMES) values[name] = valueOf(name);
  return values as Record<TableName, Value>;
}

// The id of an organization contains no line feed, so two different pairs never make the same text.
export function nameIn(organizationId: OrganizationId, name: string): string {
  return `${organizationId}\n${name}`;
}

/**
 * A complete row with its values after the command. It is inserted, or replaces the row that has
 * the same key.
 */
export type Put<Name extends TableName = TableName> = {
  readonly [Each in Name]: { readonly table: Each; readonly row: Tables[Each] };
}[Name];

/** The rows that a command writes. One commit saves all of them, or none. */
export interface Effect {
  /**
   * Ordered by their `seq`. A transaction that `puts` creates gets the `seq` of its own first
   * entry, and any other row that of the first entry.
   */
  readonly entries: readonly JournalEntry[];
  readonly puts: readonly Put[];
  /**
   * The limits of the entries' organization and what counts against them, after the command. Absent
   * if neither changes.
   */
  readonly limits?: LimitsInForce | undefined;
  /** Whether the organization is suspended after the command. Absent if that stays as it is. */
  readonly isSuspended?: boolean;
  /** Whether a mint needs a receipt after the command. Absent if that stays as it is. */
  readonly areReceiptsRequired?: boolean;
  /** The rules of the reserve after the command. Absent if they stay as they are. */
  readonly reserveRules?: string;
  /** The list of payouts that are held, after the command. Absent if it stays as it is. */
  readonly payoutList?: string;
  /** What the command changes about an operator. Absent of each command of a book. */
  readonly person?: PersonChange;
}

export type Decision<Resource> =
  | { readonly kind: "effect"; readonly resource: Resource; readonly effect: Effect }
  /**
   * The command was completed earlier. The effect has at most a new idempotency key for the same
   * resource.
   */
  | { readonly kind: "replay"; readonly resource: Resource; readonly effect: Effect }
  | { readonly kind: "refusal"; readonly refusal: Refusal };

/**
 * One kind of command: `lookup` names the rows that it needs, `decide` returns its effect. Both
 * functions are pure. `now` is the time that the rows get: after a clock was wrong, that of the
 * book's newest row, which may lie far ahead. Every wait counts from `clock`, that of the server.
 */
export interface Operation<Command, Resource> {
  readonly lookup: (command: Command, rows: Lookup) => void;
  readonly decide: Decide<Command, Resource>;
  /**
   * Whether the command holds while the organization is suspended. Those of operators must, and so
   * must those of a rail: its report of an order is true even then. Never when omitted.
   */
  readonly inSuspension?: "always" | "of operators";
  /**
   * Whether the command holds while the clock is behind the book. It takes the time of the newest
   * row then. A leaked key must not live on because a clock is wrong.
   */
  readonly isForAnyClock?: true;
}

/** Decides a command on the state before it: a book, or the people of the house. */
export type Decide<Command, Resource, State = Book> = (
  state: State,
  command: Command,
  now: UnixMillis,
  clock: UnixMillis,
) => Decision<Resource>;

export function refuse(refusal: Refusal): { kind: "refusal"; refusal: Refusal } {
  return { kind: "refusal", refusal };
}

/**
 * Returns the resource of the first call. `puts` holds the new idempotency key, if the command has
 * one.
 */
export function replay<Resource>(
  resource: Resource,
  puts: readonly Put[] = [],
): Extract<Decision<Resource>, { readonly kind: "replay" }> {
  return { kind: "replay", resource, effect: { entries: [], puts } };
}

/** Stores the key with the resource. Returns no rows if the command has no key. */
export function putIdempotencyKey(
  key: IdempotencyKey | undefined,
  { id: resourceId, organizationId }: { readonly id: ResourceId; readonly organizationId: OrganizationId },
  createdAt: UnixMillis,
): readonly Put<"idempotencyKeys">[] {
  if (key === undefined) return [];
  return [{ table: "idempotencyKeys", row: { organizationId, key, resourceId, createdAt } }];
}
