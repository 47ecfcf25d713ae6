import type { Account } from "../domain/account.js";
import type { Command } from "../domain/commands.js";
import { decide } from "../domain/operations/table.js";
import type { Refusal } from "../domain/refusal.js";
import type { Transaction } from "../domain/transaction.js";
import type { UnixMillis } from "../domain/values/time.js";
import { BatchBook } from "./batch-book.js";
import { lookupOf } from "./batch-lookup.js";
import type { LedgerStore } from "./ports/store.js";

/**
 * What became of one command of a batch that is on disk. Plain data: it may come from another
 * thread.
 */
export type BatchAnswer =
  | { readonly kind: "done"; readonly resource: Account | Transaction; readonly replayed: boolean }
  | { readonly kind: "refused"; readonly refusal: Refusal }
  /** Our own code threw. Nothing of this command happened. */
  | { readonly kind: "bug"; readonly error: unknown };

/** Decides the commands of one batch in order and commits what they do, wherever that runs. */
export interface Committer {
  /**
   * How many batches it takes before it has answered the first. They are committed in the order in
   * which they were given.
   */
  readonly batchesMax: number;
  /** How many commands it takes at a time best, when they come one by one. */
  readonly batchUsual: number;
  /**
   * Answers, when all of it is on disk, one answer for each command.
   *
   * Rejects with a StoreError when the database did not take the batch: nothing of it happened,
   * save after an "unavailable" whose commit may or may not have been heard.
   */
  commit(commands: readonly Command[], now: UnixMillis): Promise<readonly BatchAnswer[]>;
}

/**
 * One batch: loads what the commands name, decides each against the effects of those before it,
 * saves, commits.
 */
export function commitBatch(
  store: LedgerStore,
  commands: readonly Command[],
  now: UnixMillis,
): Promise<readonly BatchAnswer[]> {
  return store.transact(async (transaction) => {
    const book = new BatchBook(await transaction.load(lookupOf(commands)));
    const answers = commands.map((command) => decideOne(book, command, now));
    const changes = book.changes();
    if (changes !== undefined) await transaction.save(changes);
    return answers;
  });
}

function decideOne(book: BatchBook, command: Command, now: UnixMillis): BatchAnswer {
  try {
    const decision = decide(book, command, now);
    if (decision.kind === "refusal") return { kind: "refused", refusal: decision.refusal };
    book.apply(decision.effect);
    return { kind: "done", resource: decision.resource, replayed: decision.kind === "replay" };
  } catch (error) {
    // Nothing of it was applied, and its neighbours go on.
    return { kind: "bug", error };
  }
}
