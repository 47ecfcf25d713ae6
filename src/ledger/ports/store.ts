import type { Account } from "../../domain/account.js";
import type { JournalEntry } from "../../domain/journal.js";
import type { Transaction } from "../../domain/transaction.js";
import type { AccountId, OrganizationId, TransactionId } from "../../domain/values/ids.js";
import type { IdempotencyKey, Reference, UserId } from "../../domain/values/text.js";
import type { UnixMillis } from "../../domain/values/time.js";

/** What the commands of one batch name, each once. */
export interface Lookup {
  readonly accountIds: readonly AccountId[];
  readonly users: readonly { organizationId: OrganizationId; userId: UserId }[];
  readonly transactionIds: readonly TransactionId[];
  readonly references: readonly { organizationId: OrganizationId; reference: Reference }[];
  readonly idempotencyKeys: readonly { organizationId: OrganizationId; key: IdempotencyKey }[];
}

/**
 * What of it exists, and what that leads to: the account of each transaction, the resource of each
 * idempotency key.
 */
export interface Loaded {
  readonly accounts: readonly Account[];
  readonly transactions: readonly Transaction[];
  readonly idempotencyKeys: readonly UsedIdempotencyKey[];
}

export interface UsedIdempotencyKey {
  readonly organizationId: OrganizationId;
  readonly key: IdempotencyKey;
  readonly resourceId: AccountId | TransactionId;
}

/** Everything that one batch writes: each row once, as it is after the batch. */
export interface Changes {
  /**
   * In the order in which they happened: the first gets the next free `seq`, and so on without a
   * gap.
   */
  readonly entries: readonly JournalEntry[];
  readonly createdAccounts: readonly Created<Account>[];
  /** Of which the status changed, whatever else did. */
  readonly changedAccounts: readonly Account[];
  /** Of which only the balances changed, as in every mint and redemption. */
  readonly changedBalances: readonly Account[];
  readonly createdTransactions: readonly Created<Transaction>[];
  readonly changedTransactions: readonly Transaction[];
  readonly idempotencyKeys: readonly (UsedIdempotencyKey & { readonly createdAt: UnixMillis })[];
  readonly supplyChanges: readonly SupplyChange[];
}

export interface Created<Row> {
  readonly row: Row;
  /** Index in `entries` of the entry that created it: the row shares that entry's `seq`. */
  readonly entryIndex: number;
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
  load(lookup: Lookup): Promise<Loaded>;
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
