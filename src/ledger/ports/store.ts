import type { BookHead } from "../../domain/book.js";
import type { RailRevision, TableName, Tables, UsedReceipt } from "../../domain/decision.js";
import type { JournalEntry } from "../../domain/journal.js";
import type { RailMovement, RailReceipt } from "../../domain/payment.js";
import type { AccountId, FreezeId, OrganizationId, TransactionId } from "../../domain/values/ids.js";
import type { IdempotencyKey, Reference, UserId } from "../../domain/values/text.js";
import type { UnixMillis } from "../../domain/values/time.js";

/** The keys of the rows that the commands of one batch may read. Each key occurs once. */
export interface BatchLookup {
  /** The organizations of all commands. */
  readonly organizationIds: readonly OrganizationId[];
  readonly accountIds: readonly AccountId[];
  /** The accounts whose holders are needed. Each is also in `accountIds`. */
  readonly holderIds: readonly AccountId[];
  /** The accounts whose standing freezes are needed. Each is also in `holderIds`. */
  readonly fullAccountIds: readonly AccountId[];
  /** The users whose accounts are needed, with their holders and standing freezes. */
  readonly users: readonly { organizationId: OrganizationId; userId: UserId }[];
  readonly freezeIds: readonly FreezeId[];
  readonly transactionIds: readonly TransactionId[];
  readonly references: readonly { organizationId: OrganizationId; reference: Reference }[];
  readonly idempotencyKeys: readonly { organizationId: OrganizationId; key: IdempotencyKey }[];
  /**
   * The keys whose accounts need their holders and standing freezes. Each is also in
   * `idempotencyKeys`.
   */
  readonly idempotencyKeysOfAccounts: readonly { organizationId: OrganizationId; key: IdempotencyKey }[];
  /** The keys whose freezes are needed. Each is also in `idempotencyKeys`. */
  readonly idempotencyKeysOfFreezes: readonly { organizationId: OrganizationId; key: IdempotencyKey }[];
  /** The transactions whose payments are needed. Each is also in `transactionIds`. */
  readonly paymentIds: readonly TransactionId[];
  /** The transactions whose accounts at rails are needed. Each is also in `paymentIds`. */
  readonly railRevisionIds: readonly TransactionId[];
  /** The transactions whose late corrections are needed. Each is also in `paymentIds`. */
  readonly orderIds: readonly TransactionId[];
  /** The references whose payments are needed. Each is also in `references`. */
  readonly referencesOfPayments: readonly { organizationId: OrganizationId; reference: Reference }[];
  /** The keys whose payments are needed. Each is also in `idempotencyKeys`. */
  readonly idempotencyKeysOfPayments: readonly { organizationId: OrganizationId; key: IdempotencyKey }[];
  readonly receipts: readonly { organizationId: OrganizationId; receipt: RailReceipt }[];
  readonly movements: readonly { organizationId: OrganizationId; movement: RailMovement }[];
  /** The subjects whose proposals are needed. */
  readonly subjects: readonly string[];
}

/**
 * The rows that exist: the rows that the lookup names, the accounts of its transactions and users,
 * and the resources of its idempotency keys. All belong to the organizations of the lookup. The
 * freezes of one account are in the order in which they began.
 */
export type Loaded = { readonly [Name in TableName]: readonly Tables[Name][] } & {
  /** The book of each organization. */
  readonly books: readonly BookHead[];
  readonly receipts: readonly UsedReceipt[];
  readonly movements: readonly UsedMovement[];
  /** Read after the books are locked: changes of these accounts lock the book, too. */
  readonly railRevisions: readonly RailRevision[];
  /**
   * The time of the database when the transaction began. Undefined if the database shares the clock
   * of this machine.
   */
  readonly begunAt: UnixMillis | undefined;
};

/** A movement of shillings that the book has. */
export interface UsedMovement {
  readonly organizationId: OrganizationId;
  readonly movement: RailMovement;
  readonly transactionId: TransactionId;
}

/** The rows that one batch writes. Each row occurs once, with its values after the batch. */
export interface Changes {
  /** In the order in which they happened. */
  readonly entries: readonly NumberedEntry[];
  readonly tables: { readonly [Name in TableName]: TableChanges<Tables[Name]> };
  /** The books that got entries. */
  readonly books: readonly BookHead[];
}

export interface NumberedEntry {
  readonly entry: JournalEntry;
  /** The number of the entry in the book of its organization. */
  readonly seq: number;
}

export interface TableChanges<Row> {
  readonly created: readonly Created<Row>[];
  readonly changed: readonly Changed<Row>[];
}

export interface Created<Row> {
  readonly row: Row;
  /** The entry that created the row. Undefined for a row that only a replay created. */
  readonly createdBy: NumberedEntry | undefined;
}

/** A row that was loaded, and the row that replaces it. */
export interface Changed<Row> {
  readonly before: Row;
  readonly row: Row;
}

/**
 * One database transaction. The number of SQL statements of each call does not depend on the size
 * of the batch.
 */
export interface StoreTransaction {
  /** Reads the rows that the batch names. Locks them until the transaction ends. */
  load(lookup: BatchLookup): Promise<Loaded>;
  save(changes: Changes): Promise<void>;
}

/** The port that the database implements for the ledger. */
export interface LedgerStore {
  /**
   * Runs `work` in one database transaction and commits it. The promise resolves once the commit is
   * on disk.
   *
   * Rejects with a StoreError if the database fails, and with the error of `work` if `work` throws.
   * In both cases nothing was written. After a StoreError "unavailable" the outcome of the commit
   * is unknown.
   */
  transact<Result>(work: (transaction: StoreTransaction) => Promise<Result>): Promise<Result>;
}

/**
 * The reason why a batch was not committed.
 *
 * - `conflict`: the batch lost a race against another server. It may run again at once.
 * - `rejected`: the database refuses a constraint or a value of the batch, on every try.
 * - `unavailable`: the database cannot be reached or cannot write.
 */
export class StoreError extends Error {
  constructor(
    readonly kind: "conflict" | "rejected" | "unavailable",
    cause: unknown,
  ) {
    super(`the database failed: ${kind}`, { cause });
    this.name = "StoreError";
  }
}
