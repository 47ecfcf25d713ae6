import type { TraceParent } from "../../runtime/caller-ids.js";
import { FairQueue } from "../../runtime/fair-queue.js";
import { Queue } from "../../runtime/queue.js";
import type { Command, Resource, ResourceOf } from "../domain/operations.js";
import type { OrganizationId } from "../domain/values/ids.js";
import type { UnixMillis } from "../domain/values/time.js";
import type { CommandResult, Committer } from "./ports/committer.js";
import type { LedgerRefusal, Outcome } from "./ports/outcome.js";
import { StoreError } from "./ports/store.js";
import { Quarantine } from "./quarantine.js";
import { REAL_TIMING, type Timing } from "./timing.js";

/** A queued command, with the promise of its caller. */
interface QueuedCommand {
  readonly command: Command;
  readonly deadline: UnixMillis;
  readonly queuedAt: UnixMillis;
  /** Whether the command came in a large batch. */
  readonly bulk: boolean;
  /** Whether an operator commands. */
  readonly operator: boolean;
  /** The place of the call in its trace, if it is recorded. */
  readonly trace: TraceParent | undefined;
  readonly resolve: (outcome: Outcome<Resource>) => void;
  /** Takes an error that our own code threw. A refusal goes to `resolve`. */
  readonly reject: (error: unknown) => void;
}

/** The key of a line in the queue. The lines take turns. */
type LineKey = OrganizationId | `${OrganizationId} bulk` | `${OrganizationId} rail`;

interface SubmitOptions {
  /** Whether the command came in a large batch. */
  readonly bulk?: boolean;
  /** Whether the command comes from the settlement, which has a line of its own. */
  readonly rail?: boolean;
  /** Whether an operator commands. Such a command has a queue of its own. */
  readonly operator?: boolean;
  /** The place of the call in its trace, if it is recorded. */
  readonly trace?: TraceParent | undefined;
}

export type TraceCommit = (calls: readonly TraceParent[], batchSize: number) => (isError: boolean) => void;

export interface LedgerOptions {
  readonly committer: Committer;
  readonly now: () => UnixMillis;
  /** The maximum number of commands in one commit. */
  readonly batchMax: number;
  /** The maximum length of the queue. One organization can fill half of it. */
  readonly queueMax: number;
  /** Called for each batch that the database did not take. */
  readonly onStoreError: (error: StoreError, batchSize: number) => void;
  /** Called for each command that a changed row refuses, with the id of the row. */
  readonly onRowChanged?: (id: string) => void;
  /**
   * Called when a commit begins that has recorded calls. Returns what the ledger calls at its end.
   * Undefined: no call is recorded.
   */
  readonly traceCommit?: TraceCommit | undefined;
  /** Real time when omitted. */
  readonly timing?: Timing;
}

// Maximum number of tries of a batch that conflicts. The winner of the race has committed, so a
// retry soon succeeds. After eight tries the cause is a fault, not a race.
const CONFLICT_TRIES_MAX = 8;

// A refusal costs as much as a command, and a refused caller retries at once. Under overload the
// server would only refuse: 144 of 7,500 mints a second were left (docs/adr/0009). So it gives one
// refusal per 32 commits.
const COMMITS_PER_REFUSAL = 32;
// The maximum number of calls that wait for their refusal. Each uses memory, even after its client
// has disconnected. One more call is refused at once.
const REFUSALS_WAITING_MAX = 50_000;

// The share of the waiting bulk commands that one batch takes. A mint costs SQLite 37 to 49 µs in a
// commit of 256, and 50 to 69 µs in a commit of 64 (docs/adr/0010).
const BULK_SHARE = 1 / 4;
// The minimum queue length to start a second batch while one is being written. It is the number of
// calls that begin together (runtime/fair-turns.ts). The committer then never waits for the event
// loop: 5 % more mints, together with the micro-batches (docs/adr/0012).
const SECOND_BATCH_SIZE_MIN = 32;

// The maximum number of commands of operators that wait. No other command takes their room.
const OPERATOR_QUEUE_MAX = 64;
// A batch takes them first, but leaves room for others: a script of an operator must not stop
// them.
const OPERATORS_PER_BATCH_MAX = 16;

// While others commit, the quarantined batches take at most 1/16 of the time.
const QUARANTINE_REST = 15;

/**
 * The only way to change state: a queue in front of the committer. The commands that arrive while a
 * commit is being written form the next batch. A caller gets its result only after the commit of
 * its batch (docs/adr/0001).
 *
 * The queue is shared fairly: organizations take turns, and no organization can fill it
 * (docs/adr/0009). The bulk commands of an organization take turns with its single calls, so a
 * payroll does not delay a payment at a till. Commands of operators have a queue of their own, and
 * go into the next batch: a suspension must not wait behind the money that it stops.
 *
 * A batch that the database rejects is split in halves until the cause is alone. The organization
 * of the cause is then quarantined: for a minute it gets batches of its own, so that no other
 * organization's commands fail with it (docs/adr/0009).
 */
export class Ledger {
  readonly #options: LedgerOptions;
  readonly #timing: Timing;
  readonly #secondBatchSizeMin: number;
  readonly #queue: FairQueue<LineKey, QueuedCommand>;
  readonly #quarantine: Quarantine;
  /** The commands of quarantined organizations. */
  readonly #quarantined: FairQueue<LineKey, QueuedCommand>;
  readonly #operators = new Queue<QueuedCommand>();
  /** The commands of operators about quarantined organizations. */
  readonly #quarantinedOperators = new Queue<QueuedCommand>();
  /** Whether a quarantined batch runs, or must wait so that others get their time. */
  #quarantineRests = false;
  /** The number of batches so far that were not quarantined. */
  #mixedBatches = 0;
  /** The calls that found no room in the queue. They wait for their refusal. */
  readonly #overflow = new Queue<QueuedCommand["resolve"]>();
  /** The number of bulk commands in the queue. */
  #bulkLength = 0;
  #batchesInFlight = 0;
  #startScheduled = false;
  #closed: PromiseWithResolvers<void> | undefined;

  constructor(options: LedgerOptions) {
    this.#options = options;
    this.#timing = options.timing ?? REAL_TIMING;
    this.#secondBatchSizeMin = Math.min(SECOND_BATCH_SIZE_MIN, options.batchMax);
    this.#queue = new FairQueue(options.queueMax);
    this.#quarantined = new FairQueue(options.queueMax);
    this.#quarantine = new Quarantine(options.now);
  }

  /**
   * Queues a command. Resolves once the command is on disk, or is refused. Rejects only on a bug.
   *
   * Drops a command whose deadline passes while it is queued. The commands of one organization are
   * decided in the order of their submission. Single commands, bulk commands and those of the
   * settlement and of operators each have their own order.
   */
  submit<C extends Command>(
    command: C,
    deadline: UnixMillis,
    { bulk = false, rail = false, operator = false, trace }: SubmitOptions = {},
  ): Promise<Outcome<ResourceOf<C>>> {
    if (this.#closed !== undefined) return Promise.resolve(refused({ reason: "SHUTTING_DOWN" }));
    return new Promise((resolve, reject) => {
      const isQuarantined = this.#quarantine.has(command.organizationId);
      const queued: QueuedCommand = {
        command,
        deadline,
        queuedAt: this.#options.now(),
        bulk,
        operator,
        trace,
        // decide() returns the type of resource that belongs to the command.
        resolve: resolve as QueuedCommand["resolve"],
        reject,
      };
      if (operator ? this.#pushOperator(queued, isQuarantined) : this.#push(queued, { isQuarantined, rail })) {
        this.#scheduleStart();
      } else if (!operator && this.#overflow.length < REFUSALS_WAITING_MAX) this.#overflow.push(queued.resolve);
      else queued.resolve(refused({ reason: "QUEUE_FULL" }));
    });
  }

  /** Returns false if the queue has no room for the command. */
  #push(
    queued: QueuedCommand,
    { isQuarantined, rail }: { readonly isQuarantined: boolean; readonly rail: boolean },
  ): boolean {
    const { bulk } = queued;
    const { organizationId } = queued.command;
    const line: LineKey = rail ? `${organizationId} rail` : bulk ? `${organizationId} bulk` : organizationId;
    const isQueued = (isQuarantined ? this.#quarantined : this.#queue).push(line, queued);
    if (isQueued && bulk && !isQuarantined) this.#bulkLength += 1;
    return isQueued;
  }

  #pushOperator(queued: QueuedCommand, isQuarantined: boolean): boolean {
    if (this.#operators.length + this.#quarantinedOperators.length >= OPERATOR_QUEUE_MAX) return false;
    (isQuarantined ? this.#quarantinedOperators : this.#operators).push(queued);
    return true;
  }

  /** What waits now: the commands, the time of the oldest, and the calls that found no room. */
  queueState(): { readonly length: number; readonly oldestAt: UnixMillis | undefined; readonly overflow: number } {
    let oldestAt: UnixMillis | undefined;
    const heads = [...this.#queue.heads(), ...this.#quarantined.heads()];
    for (const { first } of [this.#operators, this.#quarantinedOperators]) if (first !== undefined) heads.push(first);
    for (const { queuedAt } of heads) if (oldestAt === undefined || queuedAt < oldestAt) oldestAt = queuedAt;
    return { length: this.#length + this.#quarantinedLength, oldestAt, overflow: this.#overflow.length };
  }

  /** The number of commands that go into mixed batches. */
  get #length(): number {
    return this.#queue.length + this.#operators.length;
  }

  get #quarantinedLength(): number {
    return this.#quarantined.length + this.#quarantinedOperators.length;
  }

  /** Refuses new commands from now on. Resolves once all queued commands have their result. */
  close(): Promise<void> {
    this.#closed ??= Promise.withResolvers();
    this.#resolveIfClosed();
    return this.#closed.promise;
  }

  /** Starts the batches after this task, so that commands that are submitted together share one. */
  #scheduleStart(): void {
    if (this.#startScheduled) return;
    this.#startScheduled = true;
    this.#timing.atEndOfTask(() => {
      this.#startScheduled = false;
      this.#startBatches();
    });
  }

  #startBatches(): void {
    const { committer } = this.#options;
    if (!this.#quarantineRests && this.#quarantinedLength > 0 && this.#batchesInFlight < committer.batchesMax) {
      void this.#runQuarantined();
    }
    // While a batch is being written, only a large batch follows it, or one with the command of an
    // operator. A small one would keep its commands from a larger batch, and leave the committer
    // waiting for the event loop.
    while (
      this.#length > 0 &&
      (this.#batchesInFlight === 0 ||
        (this.#batchesInFlight < committer.batchesMax &&
          (this.#operators.length > 0 || this.#queue.length >= this.#secondBatchSizeMin)))
    ) {
      const batch = this.#takeBatch();
      if (batch.length > 0) {
        this.#mixedBatches += 1;
        void this.#runBatch(batch);
      }
    }
    // The queue is empty, so the refusals delay no command.
    if (this.#length === 0) this.#refuseOverflow(this.#overflow.length);
    this.#resolveIfClosed();
  }

  /** Commits one batch of the next quarantined line. */
  async #runQuarantined(): Promise<void> {
    const { batchMax, committer, now } = this.#options;
    const startedAt = now();
    const first = this.#quarantinedOperators.shift();
    const waiting =
      first === undefined ? this.#quarantined.shiftLine(Math.min(batchMax, committer.batchUsual)) : [first];
    const batch = waiting.filter((queued) => isInTime(queued, startedAt));
    const mixedBatches = this.#mixedBatches;
    this.#quarantineRests = true;
    if (batch.length > 0) await this.#runBatch(batch);
    if (this.#mixedBatches > mixedBatches) await this.#timing.rest(Math.max(1, now() - startedAt) * QUARANTINE_REST);
    this.#quarantineRests = false;
    this.#startBatches();
  }

  #takeBatch(): QueuedCommand[] {
    const { batchMax, committer, now } = this.#options;
    const startedAt = now();
    const batch: QueuedCommand[] = [];
    while (batch.length < OPERATORS_PER_BATCH_MAX) {
      const queued = this.#operators.shift();
      if (queued === undefined) break;
      if (isInTime(queued, startedAt)) batch.push(queued);
    }
    const size = Math.min(batchMax, Math.max(committer.batchUsual, Math.floor(this.#bulkLength * BULK_SHARE)));
    while (batch.length < size) {
      const queued = this.#queue.shift();
      if (queued === undefined) break;
      if (queued.bulk) this.#bulkLength -= 1;
      if (isInTime(queued, startedAt)) batch.push(queued);
    }
    return batch;
  }

  async #runBatch(batch: readonly QueuedCommand[]): Promise<void> {
    this.#batchesInFlight += 1;
    await this.#commitAndSettle(batch);
    this.#batchesInFlight -= 1;
    this.#refuseOverflow(batch.length / COMMITS_PER_REFUSAL);
    this.#startBatches();
  }

  /** Refuses `count` (rounded up) of the overflowed calls with QUEUE_FULL, oldest first. */
  #refuseOverflow(count: number): void {
    for (let done = 0; done < count; done += 1) this.#overflow.shift()?.(refused({ reason: "QUEUE_FULL" }));
  }

  async #commitAndSettle(batch: readonly QueuedCommand[]): Promise<void> {
    const endTrace = this.#beginTrace(batch);
    try {
      const results = await this.#commitWithRetries(batch);
      endTrace?.(false);
      batch.forEach((queued, index) => {
        this.#noteChangedRow(results[index]);
        settle(queued, results[index]);
      });
    } catch (error) {
      endTrace?.(true);
      await this.#settleFailed(batch, error);
    }
  }

  #noteChangedRow(result: CommandResult | undefined): void {
    if (result?.kind !== "refused" || result.refusal.reason !== "ROW_CHANGED") return;
    this.#options.onRowChanged?.(result.refusal.resourceId);
  }

  #beginTrace(batch: readonly QueuedCommand[]): ((isError: boolean) => void) | undefined {
    const { traceCommit } = this.#options;
    if (traceCommit === undefined) return undefined;
    const calls = new Set<TraceParent>();
    for (const { trace } of batch) if (trace !== undefined) calls.add(trace);
    return calls.size === 0 ? undefined : traceCommit([...calls], batch.length);
  }

  async #commitWithRetries(batch: readonly QueuedCommand[]): Promise<readonly CommandResult[]> {
    const { committer, now } = this.#options;
    const commands = batch.map(({ command }) => command);
    for (let tries = 1; ; tries += 1) {
      try {
        return await committer.commit(commands, now());
      } catch (error) {
        const isConflict = error instanceof StoreError && error.kind === "conflict";
        if (!isConflict || tries === CONFLICT_TRIES_MAX) throw error;
        await this.#timing.pauseAfterConflict();
      }
    }
  }

  async #settleFailed(batch: readonly QueuedCommand[], error: unknown): Promise<void> {
    const [first] = batch;
    if (!(error instanceof StoreError) || first === undefined) {
      for (const { reject } of batch) reject(error);
      return;
    }
    this.#options.onStoreError(error, batch.length);
    if (error.kind !== "rejected") {
      for (const { resolve } of batch) resolve(refused({ reason: "STORAGE_UNAVAILABLE" }));
      // The database commits nothing now, so the refusals take time from no commit.
      this.#refuseOverflow(this.#overflow.length);
    } else if (batch.length === 1) {
      // The organization cannot cause what the command of an operator does.
      if (!first.operator) this.#quarantine.add(first.command.organizationId);
      first.reject(error);
    } else {
      // The database rejects some command of the batch. Halving finds it with few commits.
      const middle = Math.ceil(batch.length / 2);
      await this.#commitAndSettle(batch.slice(0, middle));
      await this.#commitAndSettle(batch.slice(middle));
    }
  }

  #resolveIfClosed(): void {
    const isIdle = this.#batchesInFlight === 0 && this.#length === 0 && this.#quarantinedLength === 0;
    if (isIdle) this.#closed?.resolve();
  }
}

/** Returns whether the command is still in time. Refuses it otherwise. */
function isInTime({ deadline, resolve }: QueuedCommand, startedAt: UnixMillis): boolean {
  if (deadline > startedAt) return true;
  resolve(refused({ reason: "DEADLINE_EXCEEDED" }));
  return false;
}

function settle({ resolve, reject }: QueuedCommand, result: CommandResult | undefined): void {
  if (result === undefined) reject(new Error("the committer returned no result for a command"));
  else if (result.kind === "bug") reject(result.error);
  else resolve(result);
}

function refused(refusal: LedgerRefusal): { kind: "refused"; refusal: LedgerRefusal } {
  return { kind: "refused", refusal };
}
