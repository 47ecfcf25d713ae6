import type { Account } from "../../../../src/domain/account.js";
import type { UsedIdempotencyKey } from "../../../../src/domain/decision.js";
import type { JournalEntry } from "../../../../src/domain/journal.js";
import type { Transaction } from "../../../../src/domain/transaction.js";
import type { OrganizationId } from "../../../../src/domain/values/ids.js";
import type { LedgerStore } from "../../../../src/ledger/ports/store.js";
import type { Supply } from "../../property/model.js";

/** Where a database transaction may stop, never to go on: what comes next. */
export type Point = "load" | "decide" | "save" | "middle of save" | "commit" | "answer";

export interface Steps {
  /**
   * Waits for its turn. Rejects with a StoreError where the database is to fail here; never settles
   * when the server crashes here.
   */
  before(point: Point): Promise<void>;
  /** Called once the commit is on disk, before anything else can happen. */
  committed(): void;
}

/** What outlives a crash. */
export interface Disk {
  readonly organizations: readonly OrganizationId[];
  /** Whether servers race, so that a batch may have to run again. */
  readonly racy: boolean;
  /** As a server's process opens it. */
  open(): Connection;
  /** All that is durable. */
  books(): Books;
  /** What the service's own check of its books says. Throws a Violation. */
  verify(): Promise<void>;
  dispose(): void;
}

/** A server's way to the disk. */
export interface Connection {
  /** For one batch. */
  store(steps: Steps): LedgerStore;
  /** What was not committed is gone. */
  crash(): void;
  close(): void;
}

export type Stored<Row> = Row & { readonly seq: number };

/** All that is durable, in the order of seq. */
export interface Books {
  readonly accounts: readonly Stored<Account>[];
  readonly transactions: readonly Stored<Transaction>[];
  readonly journal: readonly Stored<JournalEntry>[];
  /** As the head of the journal says. */
  readonly lastSeq: number;
  readonly supply: ReadonlyMap<OrganizationId, Supply>;
  readonly idempotencyKeys: readonly UsedIdempotencyKey[];
}
