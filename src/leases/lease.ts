import { Loop } from "../../runtime/loop.js";
import type { LoopTiming } from "../../runtime/wait.js";
import type { LeaseStore } from "./ports.js";

const LEASE_MILLIS = 60_000;
const RENEW_MILLIS = 15_000;

interface LeaseOptions {
  readonly name: string;
  /** Names this process. No two processes have the same name. */
  readonly holder: string;
  readonly store: LeaseStore;
  readonly timing: LoopTiming;
  readonly onError: (error: unknown) => void;
}

/**
 * The right to do work that one server of a cell does at a time. It saves work. Nothing that must
 * be safe may depend on it: a process that was stopped for a minute may believe that it still has
 * the lease.
 */
export class Lease {
  readonly #options: LeaseOptions;
  /** When the lease ends, by the monotonic clock of this process. */
  #endsAt = -Infinity;
  readonly #loop: Loop;

  constructor(options: LeaseOptions) {
    this.#options = options;
    const step = async (): Promise<number> => {
      await this.#take();
      return RENEW_MILLIS;
    };
    this.#loop = new Loop({ step, wait: options.timing.wait });
  }

  /** Takes the lease whenever it is free, and renews it, until `stop`. */
  start(): void {
    this.#loop.start();
  }

  /** For how long this process has the lease, if it does. Not positive otherwise. */
  leftMillis(): number {
    return this.#endsAt - this.#options.timing.monotonicMillis();
  }

  /** Gives the lease back, so that another server need not wait for its end. */
  async stop(): Promise<void> {
    const { name, holder, store, onError } = this.#options;
    const stopped = this.#loop.stop();
    this.#endsAt = -Infinity;
    await stopped;
    this.#endsAt = -Infinity;
    await store.release(name, holder).catch(onError);
  }

  async #take(): Promise<void> {
    const { name, holder, store, timing, onError } = this.#options;
    // The database counts from a later moment, so this end is never later than its own.
    const askedAt = timing.monotonicMillis();
    try {
      const isTaken = await store.take(name, { holder, millis: LEASE_MILLIS });
      this.#endsAt = isTaken ? askedAt + LEASE_MILLIS : -Infinity;
    } catch (error) {
      // The lease that was taken before stays ours until its end.
      onError(error);
    }
  }
}
