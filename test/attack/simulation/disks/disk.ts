import type { Account } from "../../../../src/domain/account.js";
import type { BookHead, BookState } from "../../../../src/domain/book.js";
import type { UsedIdempotencyKey } from "../../../../src/domain/decision.js";
import type { Deposit } from "../../../../src/domain/deposit.js";
import type { Freeze } from "../../../../src/domain/freeze.js";
import type { JournalEntry } from "../../../../src/domain/journal.js";
import type { Transaction } from "../../../../src/domain/transaction.js";
import type { OrganizationId } from "../../../../src/domain/values/ids.js";
import { toUnixMillis, type UnixMillis } from "../../../../src/domain/values/time.js";
import type { LedgerStore } from "../../../../src/ledger/ports/store.js";

/**
 * A point at which a database transaction may stop for ever, named after the step that comes next.
 */
export type Point = "load" | "decide" | "save" | "middle of save" | "commit" | "answer";

export interface Steps {
  /**
   * Waits for the turn of this step. Rejects with a StoreError where the database fails here; never
   * settles where the server crashes here.
   */
  before(point: Point): Promise<void>;
  /** Called once the commit is on disk, before anything else can happen. */
  committed(): void;
}

/** The organizations that a run may have. */
export const ORGANIZATIONS = ["org_1", "org_2", "org_3", "org_4", "org_5"] as OrganizationId[];

/**
 * The time of the first row of each book. A month of Nairobi ends soon after it, so that many runs
 * go on in the next one.
 */
export const BOOKS_BEGIN = toUnixMillis(Date.UTC(2001, 0, 31, 20, 59, 59, 700));

/** Makes the disk of one cell, with a new book for each organization. */
export type MakeDisk = (organizations: readonly OrganizationId[], databaseClock: () => UnixMillis) => Disk;

/** The disk of one cell: the part of its servers that outlives their crashes. */
export interface Disk {
  readonly organizations: readonly OrganizationId[];
  /**
   * Whether servers race, so that a batch may run again. Such a disk has a clock of its own; any
   * other shares the clock of its server.
   */
  readonly racy: boolean;
  /** Opens the disk for one server process. */
  open(): Connection;
  /** Reads all that is durable. */
  books(): Books;
  /** Reads the rows of a book that come after a `seq`, as a reader of events does. */
  journalAfter(organizationId: OrganizationId, seq: number): readonly Stored<JournalEntry>[];
  /** Sets the state of a book. Returns false while a transaction locks the book. */
  setState(organizationId: OrganizationId, state: BookState): boolean;
  /** Suspends or resumes an organization. Returns false if this disk cannot. */
  setSuspended(organizationId: OrganizationId, isSuspended: boolean): boolean;
  /** Runs the service's own check of its books. Throws a Violation when it finds something. */
  verify(): Promise<void>;
  dispose(): void;
}

/** The connection of one server to the disk. */
export interface Connection {
  /** The store for one batch. */
  store(steps: Steps): LedgerStore;
  /** Drops everything that is not committed. */
  crash(): void;
  close(): void;
}

export type Stored<Row> = Row & { readonly seq: number };

/** All that is durable in one cell. The rows of one book are in the order of `seq`. */
export interface Books {
  readonly accounts: readonly Stored<Account>[];
  readonly freezes: readonly Stored<Freeze>[];
  readonly transactions: readonly Stored<Transaction>[];
  readonly deposits: readonly Stored<Deposit>[];
  readonly journal: readonly Stored<JournalEntry>[];
  readonly heads: ReadonlyMap<OrganizationId, BookHead>;
  readonly idempotencyKeys: readonly UsedIdempotencyKey[];
}
