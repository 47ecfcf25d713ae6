import type { Account } from "../../../../src/domain/account.js";
import type { UsedIdempotencyKey } from "../../../../src/domain/decision.js";
import type { JournalEntry } from "../../../../src/domain/journal.js";
import type { Transaction } from "../../../../src/domain/transaction.js";
import type { OrganizationId } from "../../../../src/domain/values/ids.js";
import type { LedgerStore } from "../../../../src/ledger/ports/store.js";
import type { Supply } from "../../property/model.js";

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

/** The part of a server that outlives its crash. */
export interface Disk {
  readonly organizations: readonly OrganizationId[];
  /** Whether servers race, so that a batch may run again. */
  readonly racy: boolean;
  /** Opens the disk for one server process. */
  open(): Connection;
  /** Reads all that is durable. */
  books(): Books;
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

/** All that is durable, in the order of seq. */
export interface Books {
  readonly accounts: readonly Stored<Account>[];
  readonly transactions: readonly Stored<Transaction>[];
  readonly journal: readonly Stored<JournalEntry>[];
  /** The last seq in the head of the journal. */
  readonly lastSeq: number;
  readonly supply: ReadonlyMap<OrganizationId, Supply>;
  readonly idempotencyKeys: readonly UsedIdempotencyKey[];
}
