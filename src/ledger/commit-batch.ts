import type { BookHead } from "../domain/book.js";
import { ALSO_FOUND, type Finder, type FinderKeys, type Lookup } from "../domain/decision.js";
import { type Command, lookUp, operationOf } from "../domain/operations.js";
import type { Refusal } from "../domain/refusal.js";
import { isOfOperators } from "../domain/values/actor.js";
import type { OrganizationId } from "../domain/values/ids.js";
import { toUnixMillis, type UnixMillis } from "../domain/values/time.js";
import { BatchBook } from "./batch-book.js";
import type { CommandResult } from "./ports/committer.js";
import { type BatchLookup, type LedgerStore, StoreError } from "./ports/store.js";
import { RowChangedError } from "./row-changed-error.js";

// The times of a book never decrease. So a server whose clock is fast would set the time of a book
// for all others. The limit is the largest difference that a synchronized clock never reaches.
const CLOCK_AHEAD_MILLIS_MAX = 2_000;
// A server whose clock is slow uses the time of the last row. With this limit no time is wrong by
// more than a minute.
const CLOCK_BEHIND_MILLIS_MAX = 60_000;

/**
 * Commits one batch. Loads the rows that the commands name, decides each command on top of the
 * earlier ones, saves the changes, and commits. `clock` is the time of this server.
 *
 * Rejects with a StoreError "unavailable" if the clock is more than 2 seconds ahead of that of the
 * database.
 */
export function commitBatch(
  store: LedgerStore,
  commands: readonly Command[],
  clock: UnixMillis,
): Promise<readonly CommandResult[]> {
  return store.transact(async (transaction) => {
    const loaded = await transaction.load(lookupOf(commands));
    refuseFastClock(clock, loaded.begunAt);
    const book = new BatchBook(loaded);
    const results = commands.map((command) => decideOne(book, command, clock));
    const changes = book.changes();
    if (changes !== undefined) await transaction.save(changes);
    return results;
  });
}

/**
 * Throws a StoreError "unavailable" if the clock is more than 2 seconds ahead of the database's.
 */
function refuseFastClock(clock: UnixMillis, databaseClock: UnixMillis | undefined): void {
  const aheadMillis = databaseClock === undefined ? 0 : clock - databaseClock;
  if (aheadMillis <= CLOCK_AHEAD_MILLIS_MAX) return;
  const message = `the clock of this server is ${String(aheadMillis)} ms ahead of the database's: synchronize both`;
  throw new StoreError("unavailable", new Error(message));
}

/**
 * Returns by how much the clock is behind the newest row of the book, if that is more than a
 * minute. A time that an operator has accepted counts as if the clock had reached it.
 */
function millisBehind(
  { lastRecordedAt, clockAcceptedAt }: Pick<BookHead, "lastRecordedAt" | "clockAcceptedAt">,
  clock: UnixMillis,
): number | undefined {
  const isAccepted = clockAcceptedAt !== undefined && lastRecordedAt - clockAcceptedAt <= CLOCK_BEHIND_MILLIS_MAX;
  const behindMillis = lastRecordedAt - clock;
  return isAccepted || behindMillis <= CLOCK_BEHIND_MILLIS_MAX ? undefined : behindMillis;
}

function decideOne(book: BatchBook, command: Command, clock: UnixMillis): CommandResult {
  try {
    const head = book.bookOf(command.organizationId);
    const { state, suspendedSeq, lastRecordedAt } = head;
    if (state === "MOVING" || state === "MOVED") return refused({ reason: "BOOK_MOVING" });
    const operation = operationOf(command.name);
    const { inSuspension, isForAnyClock = false } = operation;
    const holds = inSuspension === "always" || (inSuspension !== undefined && isOfOperators(command.actor));
    if (suspendedSeq !== undefined && !holds) return refused({ reason: "ORGANIZATION_SUSPENDED" });
    const behindMillis = isForAnyClock ? undefined : millisBehind(head, clock);
    if (behindMillis !== undefined) return refused({ reason: "CLOCK_BEHIND", behindMillis });

    const decision = operation.decide(book, command, toUnixMillis(Math.max(clock, lastRecordedAt)), clock);
    if (decision.kind === "refusal") return refused(decision.refusal);
    if (!("dryRun" in command && command.dryRun)) book.apply(decision.effect);
    return { kind: "done", resource: book.numbered(decision.resource), replayed: decision.kind === "replay" };
  } catch (error) {
    if (error instanceof RowChangedError) return refused({ reason: "ROW_CHANGED", resourceId: error.id });
    // The effect was not applied, so the other commands of the batch can continue.
    return { kind: "bug", error };
  }
}

function refused(refusal: Refusal): CommandResult {
  return { kind: "refused", refusal };
}

/** Collects the keys of all rows that the decisions of a batch may read. */
function lookupOf(commands: readonly Command[]): BatchLookup {
  const organizationIds = new Set<OrganizationId>();
  const rows = new BatchRows();
  for (const command of commands) {
    organizationIds.add(command.organizationId);
    lookUp(command, rows);
  }
  return { organizationIds: [...organizationIds], keysOf: (finder) => rows.keysOf(finder) };
}

class BatchRows implements Lookup {
  readonly #keys = new Map<Finder, Set<FinderKeys[Finder]>>();

  need<Of extends Finder>(finder: Of, key: FinderKeys[Of]): void {
    this.#add(finder, key);
  }

  #add(finder: Finder, key: FinderKeys[Finder]): void {
    const keys = this.#keys.get(finder);
    if (keys === undefined) this.#keys.set(finder, new Set([key]));
    else keys.add(key);
    for (const other of ALSO_FOUND[finder] ?? []) this.#add(other, key);
  }

  keysOf<Of extends Finder>(finder: Of): readonly FinderKeys[Of][] {
    // Only `need` adds keys, and only those of the finder.
    return [...(this.#keys.get(finder) ?? [])] as FinderKeys[Of][];
  }
}
