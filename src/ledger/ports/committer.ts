import type { Account } from "../../domain/account.js";
import type { Command } from "../../domain/commands.js";
import type { Refusal } from "../../domain/refusal.js";
import type { Transaction } from "../../domain/transaction.js";
import type { UnixMillis } from "../../domain/values/time.js";

/** Decides the commands of one batch in order, and commits their effects. */
export interface Committer {
  /** The most batches in flight. They are committed in the order in which they were given. */
  readonly batchesMax: number;
  /** The best size of a batch of single calls. */
  readonly batchUsual: number;
  /**
   * Resolves with one answer for each command when the whole batch is on disk.
   *
   * Rejects with a StoreError when the database did not take the batch. Then nothing of it
   * happened, except after "unavailable": the answer to the commit may have been lost.
   */
  commit(commands: readonly Command[], now: UnixMillis): Promise<readonly BatchAnswer[]>;
}

/** The result of one command of a committed batch. Plain data: it may come from another thread. */
export type BatchAnswer =
  | { readonly kind: "done"; readonly resource: Account | Transaction; readonly replayed: boolean }
  | { readonly kind: "refused"; readonly refusal: Refusal }
  /** Our own code threw. Nothing of this command happened. */
  | { readonly kind: "bug"; readonly error: unknown };
