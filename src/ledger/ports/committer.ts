import type { Command, Resource } from "../../domain/operations.js";
import type { Refusal } from "../../domain/refusal.js";
import type { UnixMillis } from "../../domain/values/time.js";

/** Decides the commands of one batch in order, and commits their effects. */
export interface Committer {
  /**
   * The maximum number of batches in flight. The committer commits them in the order of the calls.
   */
  readonly batchesMax: number;
  /** The best size of a batch of single calls. */
  readonly batchUsual: number;
  /**
   * Resolves with one result for each command once the whole batch is on disk.
   *
   * Rejects with a StoreError if the database did not take the batch. Then nothing of the batch
   * happened. After "unavailable" the outcome is unknown, because the response to the commit may be
   * lost.
   */
  commit(commands: readonly Command[], now: UnixMillis): Promise<readonly CommandResult[]>;
}

/**
 * The result of one command of a committed batch. It is plain data, because it may come from
 * another thread.
 */
export type CommandResult =
  | { readonly kind: "done"; readonly resource: Resource; readonly replayed: boolean }
  | { readonly kind: "refused"; readonly refusal: Refusal }
  /** Our own code threw an error. The command changed nothing. */
  | { readonly kind: "bug"; readonly error: unknown };
