import { Queue } from "../../runtime/queue.js";
import type { Account } from "../domain/account.js";
import type { Command, ResourceOf } from "../domain/commands.js";
import type { Transaction } from "../domain/transaction.js";
import type { OrganizationId } from "../domain/values/ids.js";
import type { UnixMillis } from "../domain/values/time.js";
import { FairQueue } from "./fair-queue.js";
import type { BatchAnswer, Committer } from "./ports/committer.js";
import type { LedgerRefusal, Outcome } from "./ports/outcome.js";
import { StoreError } from "./ports/store.js";
import { REAL_WAITS, type Waits } from "./timing.js";

/** A command in the queue, and who waits for it. */
interface Waiting {
  readonly command: Command;
  readonly deadline: UnixMillis;
  /** Whether it came with many others. */
  readonly bulk: boolean;
  readonly answer: (outcome: Outcome<Account | Transaction>) => void;
  /** For what threw: a bug, not a refusal. */
  readonly fail: (error: unknown) => void;
}

/** Who takes turns. */
type Line = OrganizationId | `${OrganizationId} bulk`;

export interface LedgerOptions {
  readonly committer: Committer;
  readonly now: () => UnixMillis;
  /** The most commands in one commit. */
  readonly batchMax: number;
  /** The most commands that may wait, and of one organization half of it; one more is refused. */
  readonly queueMax: number;
  /** Hears of each batch that the database did not take. */
  readonly onStoreError: (error: StoreError, batchSize: number) => void;
  /** Real time unless said otherwise. */
  readonly waits?: Waits;
}

// A lost race is won soon: whoever won it has committed. A few tries tell a race from a fault.
const CONFLICT_TRIES_MAX = 8;

// Telling a caller "no" costs about as much as a command does, and a caller who is told so at once
// is back at once: the service would do nothing else. So refusals are given at one for 32 commits,
// and callers wait.
const COMMITS_PER_REFUSAL = 32;
// Past so many the next is told at once: who has hung up since still waits here, in memory.
const REFUSALS_WAITING_MAX = 50_000;

// Of calls that come one by one a commit takes what is usual for the committer. Of what came in
// bulk, a thousand at a time, it takes a quarter, which costs the database less for each.
const BATCH_SHARE = 1 / 4;
// So many are worth a commit behind the one that is being written: what calls come in together, see
// call-steps.ts.
const BATCH_WORTH_IT = 32;

/**
 * The one way to change state: a queue in front of the committer. Whatever arrived while the last
 * commit was being written is the next batch; only after its commit does anyone hear "yes".
 *
 * The queue is shared fairly: organizations take turns, and none can fill it. What an organization
 * sends in bulk takes turns with its own single calls too, so that a payroll makes nobody at a till
 * wait.
 */
export class Ledger {
  readonly #options: LedgerOptions;
  readonly #waits: Waits;
  readonly #batchWorthIt: number;
  readonly #queue: FairQueue<Line, Waiting>;
  /** Those who found no room in the queue, and have not been told yet. */
  readonly #refused = new Queue<Waiting["answer"]>();
  /** How many of the queue came in bulk. */
  #bulkWaiting = 0;
  #batches = 0;
  #gathering = false;
  #closed: PromiseWithResolvers | undefined;

  constructor(options: LedgerOptions) {
    this.#options = options;
    this.#waits = options.waits ?? REAL_WAITS;
    this.#batchWorthIt = Math.min(BATCH_WORTH_IT, options.batchMax);
    this.#queue = new FairQueue(options.queueMax);
  }

  /**
   * Queues a command; answers when it is on disk, or refused. A command whose deadline passes while
   * it waits is never started, and neither is one that finds no room. Rejects only on a bug.
   * Commands of one organization are decided in the order in which they are submitted, those in
   * bulk and those by themselves each in an order of their own.
   */
  submit<C extends Command>(
    command: C,
    deadline: UnixMillis,
    { bulk = false }: { bulk?: boolean } = {},
  ): Promise<Outcome<ResourceOf<C>>> {
    if (this.#closed !== undefined) return Promise.resolve(refused({ reason: "SHUTTING_DOWN" }));
    return new Promise((resolve, reject) => {
      // The decision for a command answers with the command's own resource: see decide().
      const answer = resolve as Waiting["answer"];
      const line: Line = bulk ? `${command.organizationId} bulk` : command.organizationId;
      const taken = this.#queue.push(line, { command, deadline, bulk, answer, fail: reject });
      if (taken) {
        if (bulk) this.#bulkWaiting += 1;
        this.#gather();
      } else if (this.#refused.length < REFUSALS_WAITING_MAX) this.#refused.push(answer);
      else answer(refused({ reason: "QUEUE_FULL" }));
    });
  }

  /** Takes no more commands; resolves when all that were taken have been answered. */
  close(): Promise<void> {
    this.#closed ??= withResolvers();
    this.#resolveIfClosed();
    return this.#closed.promise;
  }

  /** Lets what is submitted together share a commit. */
  #gather(): void {
    if (this.#gathering) return;
    this.#gathering = true;
    this.#waits.afterThis(() => {
      this.#gathering = false;
      this.#startBatches();
    });
  }

  #startBatches(): void {
    const { committer } = this.#options;
    // Behind a batch that is being written no small one is handed over, so that the committer never
    // waits for us under load, and nobody's command waits in a small batch that could have been a
    // larger one.
    while (
      this.#queue.length > 0 &&
      (this.#batches === 0 || (this.#batches < committer.batchesMax && this.#queue.length >= this.#batchWorthIt))
    ) {
      const batch = this.#takeBatch();
      if (batch.length > 0) void this.#commit(batch);
    }
    // Nobody's command waits longer for it.
    if (this.#queue.length === 0) this.#refuse(this.#refused.length);
    this.#resolveIfClosed();
  }

  #takeBatch(): Waiting[] {
    const { batchMax, committer, now } = this.#options;
    const startedAt = now();
    const batch: Waiting[] = [];
    const size = Math.min(batchMax, Math.max(committer.batchUsual, Math.floor(this.#bulkWaiting * BATCH_SHARE)));
    while (batch.length < size) {
      const waiting = this.#queue.shift();
      if (waiting === undefined) break;
      if (waiting.bulk) this.#bulkWaiting -= 1;
      if (waiting.deadline > startedAt) batch.push(waiting);
      else waiting.answer(refused({ reason: "DEADLINE_EXCEEDED" }));
    }
    return batch;
  }

  async #commit(batch: readonly Waiting[]): Promise<void> {
    this.#batches += 1;
    await this.#answer(batch);
    this.#batches -= 1;
    this.#refuse(batch.length / COMMITS_PER_REFUSAL);
    this.#startBatches();
  }

  /** Tells so many of those who found no room, rounded up, those first who have waited longest. */
  #refuse(count: number): void {
    for (let told = 0; told < count; told += 1) this.#refused.shift()?.(refused({ reason: "QUEUE_FULL" }));
  }

  async #answer(batch: readonly Waiting[]): Promise<void> {
    try {
      const answers = await this.#commitUncontested(batch);
      batch.forEach((waiting, index) => {
        give(waiting, answers[index]);
      });
    } catch (error) {
      await this.#answerFailed(batch, error);
    }
  }

  async #commitUncontested(batch: readonly Waiting[]): Promise<readonly BatchAnswer[]> {
    const { committer, now } = this.#options;
    const commands = batch.map(({ command }) => command);
    for (let tries = 1; ; tries += 1) {
      try {
        return await committer.commit(commands, now());
      } catch (error) {
        const lostRace = error instanceof StoreError && error.kind === "conflict";
        if (!lostRace || tries === CONFLICT_TRIES_MAX) throw error;
        await this.#waits.afterLostRace();
      }
    }
  }

  async #answerFailed(batch: readonly Waiting[], error: unknown): Promise<void> {
    const [first] = batch;
    if (!(error instanceof StoreError)) {
      for (const { fail } of batch) fail(error);
      return;
    }
    this.#options.onStoreError(error, batch.length);
    if (error.kind !== "rejected") {
      for (const { answer } of batch) answer(refused({ reason: "STORAGE_UNAVAILABLE" }));
      // There are no commits to protect, and may be none for long.
      this.#refuse(this.#refused.length);
    } else if (batch.length === 1) {
      first?.fail(error);
    } else {
      // One command holds what the database does not take. Alone, each shows whether it is the one.
      for (const waiting of batch) await this.#answer([waiting]);
    }
  }

  #resolveIfClosed(): void {
    if (this.#batches === 0 && this.#queue.length === 0) this.#closed?.resolve();
  }
}

function give({ answer, fail }: Waiting, given: BatchAnswer | undefined): void {
  if (given === undefined) fail(new Error("the committer left a command without an answer"));
  else if (given.kind === "bug") fail(given.error);
  else answer(given);
}

function refused(refusal: LedgerRefusal): { kind: "refused"; refusal: LedgerRefusal } {
  return { kind: "refused", refusal };
}

interface PromiseWithResolvers {
  readonly promise: Promise<void>;
  readonly resolve: () => void;
}

// Promise.withResolvers() comes with Node 22.
function withResolvers(): PromiseWithResolvers {
  let resolve!: () => void;
  const promise = new Promise<void>((resolvePromise) => {
    resolve = resolvePromise;
  });
  return { promise, resolve };
}
