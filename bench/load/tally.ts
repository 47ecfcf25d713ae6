import type { Job, LoadResult } from "./job.js";

/**
 * Different problems that a job tells apart: a message that differs from call to call must not
 * flood the report.
 */
const PROBLEMS_MAX = 20;

/** A call that waits for its answer. */
export interface CallInFlight {
  serial: number;
  /** Index into the job's accounts. */
  account: number;
  /** Clock of `performance.now()`. */
  startedAt: number;
}

/**
 * The books of one job: which call comes next, whether to start it at all, and what has come back.
 */
export class Tally {
  readonly #job: Job;
  readonly #latencies: number[] = [];
  readonly #acknowledged: number[];
  readonly #problems = new Map<string, number>();
  #started = 0;
  #windowFrom = Infinity;
  #windowTo = Infinity;
  #cpuAtOpening = process.cpuUsage();
  #loadMicroseconds = 0;

  constructor(job: Job) {
    this.#job = job;
    this.#acknowledged = job.accountIds.map(() => 0);
  }

  /** Whether more calls may be started. */
  get open(): boolean {
    return this.#windowTo === Infinity && this.#started < (this.#job.callsMax ?? Infinity);
  }

  /**
   * The next call, with a serial number that no other call of the run has; its time counts from
   * `startedAt`.
   */
  next(startedAt: number): CallInFlight {
    const serial = this.#job.firstSerial + this.#started;
    const account = this.#started % this.#acknowledged.length;
    this.#started += 1;
    return { serial, account, startedAt };
  }

  /**
   * Books the answer to `call`: right when there is no `problem`, counted as a latency if it
   * arrived in the window.
   */
  settle(call: CallInFlight, now: number, problem: string | undefined): void {
    if (problem !== undefined) {
      this.blame(problem, 1);
      return;
    }
    this.#acknowledged[call.account] = (this.#acknowledged[call.account] ?? 0) + 1;
    if (now >= this.#windowFrom && now < this.#windowTo) this.#latencies.push(now - call.startedAt);
  }

  /** Books `count` calls that failed for the same reason. */
  blame(problem: string, count: number): void {
    const known = this.#problems.has(problem) || this.#problems.size < PROBLEMS_MAX;
    const name = known ? problem : "other problems";
    this.#problems.set(name, (this.#problems.get(name) ?? 0) + count);
  }

  /** From here on answers count. */
  openWindow(): void {
    this.#cpuAtOpening = process.cpuUsage();
    this.#windowFrom = performance.now();
  }

  /** From here on answers no longer count, and no call is started. */
  closeWindow(): void {
    const { user, system } = process.cpuUsage(this.#cpuAtOpening);
    this.#windowTo = performance.now();
    this.#loadMicroseconds = user + system;
  }

  /** The result, once the window is closed and every call has been settled. */
  result(): LoadResult {
    const sorted = Float64Array.from(this.#latencies).sort();
    const seconds = (this.#windowTo - this.#windowFrom) / 1000;
    return {
      callsInWindow: sorted.length,
      callsPerSecond: sorted.length / seconds,
      p50Millis: quantile(sorted, 0.5),
      p99Millis: quantile(sorted, 0.99),
      loadMicrosecondsPerCall: this.#loadMicroseconds / Math.max(1, sorted.length),
      loadBusy: this.#loadMicroseconds / 1_000_000 / seconds,
      acknowledged: this.#acknowledged,
      started: this.#started,
      problems: Object.fromEntries(this.#problems),
    };
  }
}

/**
 * The smallest sample that at least `share` of all samples do not exceed; 0 when there are none.
 */
function quantile(sorted: Float64Array, share: number): number {
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0;
}
