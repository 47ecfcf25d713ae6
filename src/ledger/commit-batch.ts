import type { Command } from "../domain/commands.js";
import { decide } from "../domain/operations/table.js";
import type { UnixMillis } from "../domain/values/time.js";
import { BatchBook } from "./batch-book.js";
import { lookupOf } from "./batch-lookup.js";
import type { CommandResult } from "./ports/committer.js";
import type { LedgerStore } from "./ports/store.js";

/**
 * Commits one batch. Loads the rows that the commands name, decides each command on top of the
 * earlier ones, saves the changes, and commits.
 */
export function commitBatch(
  store: LedgerStore,
  commands: readonly Command[],
  now: UnixMillis,
): Promise<readonly CommandResult[]> {
  return store.transact(async (transaction) => {
    const book = new BatchBook(await transaction.load(lookupOf(commands)));
    const results = commands.map((command) => decideOne(book, command, now));
    const changes = book.changes();
    if (changes !== undefined) await transaction.save(changes);
    return results;
  });
}

function decideOne(book: BatchBook, command: Command, now: UnixMillis): CommandResult {
  try {
    const decision = decide(book, command, now);
    if (decision.kind === "refusal") return { kind: "refused", refusal: decision.refusal };
    book.apply(decision.effect);
    return { kind: "done", resource: decision.resource, replayed: decision.kind === "replay" };
  } catch (error) {
    // The effect was not applied, so the other commands of the batch can continue.
    return { kind: "bug", error };
  }
}
