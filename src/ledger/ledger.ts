import { setTimeout as sleep } from "node:timers/promises";

import type { Account } from "../domain/account.js";
import type { Command, ResourceOf } from "../domain/commands.js";
import { decide } from "../domain/decide.js";
import type { UnixMillis } from "../domain/time.js";
import type { Transaction } from "../domain/transaction.js";
import { BatchBook } from "./batch-book.js";
import { lookupOf } from "./lookup.js";
import type { LedgerRefusal, Outcome } from "./outcome.js";
import { StoreError, type LedgerStore } from "./store.js";

type Resource = Account | Transaction;

/** A command in the queue, and who waits for it. */
interface Waiting {
  readonly command: Command;
  readonly deadline: UnixMillis;
  readonly answer: (outcome: Outcome<Resource>) => void;
  /** For what threw: a bug, not a refusal. */
  readonly fail: (error: unknown) => void;
}

export interface LedgerOptions {
  readonly store: LedgerStore;
  readonly now: () => UnixMillis;
  /** The most commands in one commit. */
  readonly batchMax: number;
  /** The most commands that may wait; one more is refused. */
  readonly queueMax: number;
  /** Hears of each batch that the database did not take. */
  readonly onStoreError: (error: StoreError, batchSize: number) => void;
}

// A lost race is won soon: whoever won it has committed. A few tries tell a race from a fault.
const CONFLICT_TRIES_MAX = 8;
const CONFLICT_PAUSE_MILLIS_MAX = 20;

/**
 * The one way to change state: a queue and its committer. Whatever arrived while the last commit was being written is
 * the next batch, decided in order and saved in one database transaction; only after its commit does anyone hear "yes".
 */
export class Ledger {
  readonly #options: LedgerOptions;
  #queue: Waiting[] = [];
  #committing: Promise<void> | undefined;
  #closed = false;

  constructor(options: LedgerOptions) {
    this.#options = options;
  }

  /** How many commands wait. */
  get queueDepth(): number {
    return this.#queue.length;
  }

  /**
   * Queues a command; answers when it is on disk, or refused. A command whose deadline passes while it waits is never
   * started. Rejects only on a bug.
   */
  submit<C extends Command>(command: C, deadline: UnixMillis): Promise<Outcome<ResourceOf<C>>> {
    if (this.#closed) return Promise.resolve(refused({ reason: "SHUTTING_DOWN" }));
    if (this.#queue.length >= this.#options.queueMax) return Promise.resolve(refused({ reason: "QUEUE_FULL" }));
    return new Promise((resolve, reject) => {
      this.#queue.push({
        command,
        deadline,
        // The decision for a command answers with the command's own resource: see decide().
        answer: resolve as (outcome: Outcome<Resource>) => void,
        fail: reject,
      });
      this.#committing ??= this.#commitUntilEmpty();
    });
  }

  /** Takes no more commands; resolves when all that were taken have been answered. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#committing;
  }

  async #commitUntilEmpty(): Promise<void> {
    // Lets the calls that came in on the same turn of the event loop share the first commit.
    await new Promise(setImmediate);
    while (this.#queue.length > 0) {
      const batch = this.#takeBatch();
      if (batch.length > 0) await this.#commit(batch);
    }
    this.#committing = undefined;
  }

  #takeBatch(): Waiting[] {
    const now = this.#options.now();
    const taken = this.#queue.splice(0, this.#options.batchMax);
    return taken.filter((waiting) => {
      const live = waiting.deadline > now;
      if (!live) waiting.answer(refused({ reason: "DEADLINE_EXCEEDED" }));
      return live;
    });
  }

  async #commit(batch: readonly Waiting[]): Promise<void> {
    try {
      const answers = await this.#runUntilUncontested(batch);
      for (const answer of answers) answer();
    } catch (error) {
      await this.#answerFailedBatch(batch, error);
    }
  }

  async #runUntilUncontested(batch: readonly Waiting[]): Promise<(() => void)[]> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await this.#run(batch);
      } catch (error) {
        const lostRace = error instanceof StoreError && error.kind === "conflict";
        if (!lostRace || tries === CONFLICT_TRIES_MAX) throw error;
        await sleep(Math.random() * CONFLICT_PAUSE_MILLIS_MAX);
      }
    }
  }

  /** Answers are handed back, not given: nobody hears anything before the commit. */
  #run(batch: readonly Waiting[]): Promise<(() => void)[]> {
    return this.#options.store.transact(async (transaction) => {
      const book = new BatchBook(await transaction.load(lookupOf(batch.map(({ command }) => command))));
      const now = this.#options.now();
      const answers = batch.map((waiting) => decideOne(book, waiting, now));
      const changes = book.changes();
      if (changes !== undefined) await transaction.save(changes);
      return answers;
    });
  }

  async #answerFailedBatch(batch: readonly Waiting[], error: unknown): Promise<void> {
    if (!(error instanceof StoreError)) {
      for (const { fail } of batch) fail(error);
      return;
    }
    this.#options.onStoreError(error, batch.length);
    if (error.kind !== "rejected") {
      for (const { answer } of batch) answer(refused({ reason: "STORAGE_UNAVAILABLE" }));
      return;
    }
    const [first] = batch;
    if (batch.length === 1) {
      first?.fail(error);
      return;
    }
    // One command holds what the database does not take. Alone, each shows whether it is the one.
    for (const waiting of batch) await this.#commit([waiting]);
  }
}

function decideOne(book: BatchBook, { command, answer, fail }: Waiting, now: UnixMillis): () => void {
  try {
    const decision = decide(book, command, now);
    switch (decision.kind) {
      case "refusal":
        return () => {
          answer({ kind: "refused", refusal: decision.refusal });
        };
      case "replay":
        if (decision.newIdempotencyKey !== undefined) book.remember(decision.newIdempotencyKey, decision.resource, now);
        return () => {
          answer({ kind: "done", resource: decision.resource, replayed: true });
        };
      case "effect":
        book.apply(decision.effect);
        return () => {
          answer({ kind: "done", resource: decision.resource, replayed: false });
        };
    }
  } catch (error) {
    // A bug in one decision: nothing of it was applied, and its neighbours go on.
    return () => {
      fail(error);
    };
  }
}

function refused(refusal: LedgerRefusal): { kind: "refused"; refusal: LedgerRefusal } {
  return { kind: "refused", refusal };
}
