import { quantile } from "../report/figures.js";
import type { Job, LoadResult } from "./job.js";

/** Different problems that a job counts apart: texts that differ call by call must not flood it. */
const PROBLEMS_MAX = 20;

/** A call that waits for its answer. */
export interface CallInFlight {
  serial: number;
  /** Index into the job's accounts. */
  account: number;
  /** Clock of `performance.now()`. */
  startedAt: number;
}

/** The books of one job: starts calls while the job is open, and counts their answers. */
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

  /** The next call. No other call of the run has its serial number. */
  next(startedAt: number): CallInFlight {
    const serial = this.#job.firstSerial + this.#started;
    const account = this.#started % this.#acknowledged.length;
    this.#started += 1;
    return { serial, account, startedAt };
  }

  /** Books the answer to `call`. An answer without a `problem` is right. */
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

  /** Answers count from here on. */
  openWindow(): void {
    this.#cpuAtOpening = process.cpuUsage();
    this.#windowFrom = performance.now();
  }

  /** Answers no longer count from here on, and no call is started. */
  closeWindow(): void {
    const { user, system } = process.cpuUsage(this.#cpuAtOpening);
    this.#windowTo = performance.now();
    this.#loadMicroseconds = user + system;
  }

  /** The result, once the window is closed and every call is settled. */
  result(): LoadResult {
    const seconds = (this.#windowTo - this.#windowFrom) / 1000;
    return {
      callsInWindow: this.#latencies.length,
      callsPerSecond: this.#latencies.length / seconds,
      p50Millis: quantile(this.#latencies, 0.5),
      p99Millis: quantile(this.#latencies, 0.99),
      loadBusy: this.#loadMicroseconds / 1_000_000 / seconds,
      acknowledged: this.#acknowledged,
      started: this.#started,
      problems: Object.fromEntries(this.#problems),
    };
  }
}
