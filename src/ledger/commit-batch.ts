import type { Command } from "../domain/commands.js";
import { decide } from "../domain/operations/table.js";
import type { UnixMillis } from "../domain/values/time.js";
import { BatchBook } from "./batch-book.js";
import { lookupOf } from "./batch-lookup.js";
import type { BatchAnswer } from "./ports/committer.js";
import type { LedgerStore } from "./ports/store.js";

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
