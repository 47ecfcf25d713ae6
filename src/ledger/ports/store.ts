import type { PersonalSum } from "../../domain/alone.js";
import type { BookHead } from "../../domain/book.js";
import type { Closing } from "../../domain/closing.js";
import type { Finder, FinderKeys, TableName, Tables, UsedReceipt } from "../../domain/decision.js";
import type { DecidingRow, JournalEntry } from "../../domain/journal.js";
import type { RailAccountId, RailMovement } from "../../domain/payment.js";
import type { PayoutCheck } from "../../domain/payout-check.js";
import type { ListedText } from "../../domain/payout-list.js";
import type { Actor } from "../../domain/values/actor.js";
import type { AccountId, DestinationId, OrganizationId, TransactionId } from "../../domain/values/ids.js";
import type { UnixMillis } from "../../domain/values/time.js";

/** The keys of the rows that the commands of one batch may read. */
export interface BatchLookup {
  /** The organizations of all commands. */
  readonly organizationIds: readonly OrganizationId[];
  /** Returns the keys of one finder. An id occurs once. */
  keysOf<Of extends Finder>(finder: Of): readonly FinderKeys[Of][];
}

/**
 * The rows that exist: the rows that the lookup names, the accounts of its transactions and users,
 * and the resources of its idempotency keys. All belong to the organizations of the lookup. The
 * freezes of one account are in the order in which they began.
 */
export type LoadedRows = { readonly [Name in TableName]: readonly Tables[Name][] };

/** The rows, and what else the commands of a batch may read. */
export type Loaded = LoadedRows & {
  /**
   * The ids of loaded rows that somebody has changed past the service, or put back as they were. No
   * command may read one of them.
   */
  readonly changedRows: ReadonlySet<string>;
  /** The book of each organization. */
  readonly books: readonly BookHead[];
  readonly receipts: readonly UsedReceipt[];
  readonly movements: readonly UsedMovement[];
  /** By the account at the rail. Read after the books are locked, as accounts at rails are. */
  readonly paymentsUnderWay: ReadonlyMap<RailAccountId, number>;
  /**
   * The sums of the deposits that are UNALLOCATED or RETURNING. Read after the books are locked,
   * too.
   */
  readonly unallocatedDepositCents: ReadonlyMap<OrganizationId, number>;
  readonly railAccountsOfCells: RailAccountsOfCells;
  /** In the order of their `seq`. Read after the books are locked, too. */
  readonly decidingRows: readonly DecidingRow[];
  /**
   * When each person looked at personal data: the newest times of the cell, oldest first. Read
   * after the books are locked, too.
   */
  readonly reveals: ReadonlyMap<Actor, readonly UnixMillis[]>;
  /** Read after the books are locked, too: two servers must not both take what is left. */
  readonly aloneSums: readonly PersonalSum[];
  /** Read after the books are locked, too: a month is closed once. */
  readonly closedMonths: readonly Closing[];
  /** Read after the books are locked, too: a payout that ends at this moment may be missed. */
  readonly paidTo: readonly PaidTo[];
  /** Read after the books are locked, too: the list that holds is that of the lock. */
  readonly listed: readonly LookedUpText[];
  /** Read after the books are locked, too: a file is approved once. */
  readonly bankFiles: readonly BankFileRow[];
  /** The checks that stand. Read after the books are locked, too. */
  readonly payoutChecks: readonly PayoutCheck[];
  /**
   * The time of the database when the transaction began. Undefined if the database shares the clock
   * of this machine.
   */
  readonly begunAt: UnixMillis | undefined;
};

/** The newest redemption that a rail has paid to a destination, or to an account's own number. */
export interface PaidTo {
  readonly organizationId: OrganizationId;
  readonly paidTo: DestinationId | AccountId;
  readonly acceptedAt: UnixMillis;
}
/** A text that was looked up, and the stored lists that have it. The head says which one holds. */
export interface LookedUpText {
  readonly organizationId: OrganizationId;
  readonly text: ListedText;
  /** The hashes of the lists. */
  readonly lists: readonly string[];
}

/** A row of the journal that approves a payment file for a bank, or marks it lost. */
export type BankFileRow = Pick<JournalEntry, "organizationId" | "kind" | "detail" | "actor">;

/** The accounts at rails of all books, in all cells of the database. */
export interface RailAccountsOfCells {
  readonly count: number;
  /** The sum of their revisions: each change of an account adds 1. */
  readonly revisions: number;
}

/** No accounts. Also what a batch sees that needs to know of none. */
export const NO_RAIL_ACCOUNTS: RailAccountsOfCells = { count: 0, revisions: 0 };

/** Returns a text that changes with each change of an account. */
export function railAccountsText({ count, revisions }: RailAccountsOfCells): string {
  return `${String(count)}:${String(revisions)}`;
}

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
  /** The last entry that changed it. */
  readonly changedBy: NumberedEntry | undefined;
}

/** A row that was loaded, and the row that replaces it. */
export interface Changed<Row> {
  readonly before: Row;
  readonly row: Row;
  /** The last entry that changed it. Undefined if none did: a rail's answer alone. */
  readonly changedBy: NumberedEntry | undefined;
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
