import type { TableName, Tables } from "../../domain/decision.js";
import type { JournalEntry } from "../../domain/journal.js";
import type { AccountId, OrganizationId, TransactionId } from "../../domain/values/ids.js";
import type { IdempotencyKey, Reference, UserId } from "../../domain/values/text.js";

/** The keys of the rows that the commands of one batch may read, each once. */
export interface BatchLookup {
  readonly accountIds: readonly AccountId[];
  readonly users: readonly { organizationId: OrganizationId; userId: UserId }[];
  readonly transactionIds: readonly TransactionId[];
  readonly references: readonly { organizationId: OrganizationId; reference: Reference }[];
  readonly idempotencyKeys: readonly { organizationId: OrganizationId; key: IdempotencyKey }[];
}

/**
 * The rows that exist: those that the lookup names, the accounts of its transactions, and the
 * resources of its idempotency keys.
 */
export type Loaded = { readonly [Name in TableName]: readonly Tables[Name][] };

/** Everything that one batch writes: each row once, as it is after the batch. */
export interface Changes {
  /** In the order in which they happened: the first gets the next free `seq`, without a gap. */
  readonly entries: readonly JournalEntry[];
  readonly tables: { readonly [Name in TableName]: TableChanges<Tables[Name]> };
  readonly supplyChanges: readonly SupplyChange[];
}

export interface TableChanges<Row> {
  readonly created: readonly Created<Row>[];
  readonly changed: readonly Changed<Row>[];
}

export interface Created<Row> {
  readonly row: Row;
  /** Index in `entries` of the entry that created the row, whose `seq` the row shares. */
  readonly entryIndex: number;
}

/** A row that was loaded, and the row that replaces it. */
export interface Changed<Row> {
  readonly before: Row;
  readonly row: Row;
}

/**
 * By how much an organization's book changes. Sums of many amounts: they may leave the range of
 * safe integers.
 */
export interface SupplyChange {
  readonly organizationId: OrganizationId;
  readonly reserveCents: bigint;
  readonly availableCents: bigint;
  readonly heldCents: bigint;
}

/**
 * One database transaction. Both calls cost a number of statements that does not depend on how much
 * they carry.
 */
export interface StoreTransaction {
  /** Reads, and locks until the end of the transaction, what the batch names. */
  load(lookup: BatchLookup): Promise<Loaded>;
  save(changes: Changes): Promise<void>;
}

/** What the ledger needs of a database. */
export interface LedgerStore {
  /**
   * Runs `work` in one database transaction and commits it. When the promise resolves, the commit
   * is on disk.
   *
   * Rejects with a StoreError when the database failed, and with whatever `work` threw; either way
   * nothing was written, save for a StoreError "unavailable" after which the outcome of the commit
   * is unknown.
   */
  transact<Result>(work: (transaction: StoreTransaction) => Promise<Result>): Promise<Result>;
}

/**
 * Why a batch was not committed. `conflict`: a race with another server was lost, the batch may run
 * again at once. `rejected`: the database refuses what the batch holds (a constraint, a value),
 * again and again. `unavailable`: the database cannot be reached or cannot write.
 */
export class StoreError extends Error {
  constructor(
    readonly kind: "conflict" | "rejected" | "unavailable",
    cause: unknown,
  ) {
    super(`the database answered: ${kind}`, { cause });
    this.name = "StoreError";
  }
}
