/** The simulator's only source of time. Each of its waits is an action of the clock. */
export interface Clock {
  nowMillis(): number;
  /** Runs `action` once, `delayMillis` from now. The action must not reject. */
  after(delayMillis: number, action: () => Promise<void>): void;
}

/** Resolves after `delayMillis` of this clock. */
export function wait(clock: Clock, delayMillis: number): Promise<void> {
  return new Promise((resolve) => {
    clock.after(delayMillis, () => {
      resolve();
      return Promise.resolve();
    });
  });
}

/** A timer of Node with a longer delay fires at once. */
const TIMER_MILLIS_MAX = 2 ** 31 - 1;

interface Waiting {
  readonly dueMillis: number;
  readonly action: () => Promise<void>;
}

/**
 * Goes on like the machine's clock, or stands still if it gets a time to stand at. `advance` moves
 * either of them forward. An action that waits keeps no process alive.
 */
export class SimulatorClock implements Clock {
  /** In the order in which they run. */
  readonly #waiting: Waiting[] = [];
  readonly #machineMillis: () => number;
  readonly #stands: boolean;
  /** How far this clock is ahead of the machine's. */
  #aheadMillis = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor({ standsAtMillis }: { readonly standsAtMillis?: number } = {}) {
    this.#stands = standsAtMillis !== undefined;
    this.#machineMillis = standsAtMillis === undefined ? Date.now : () => standsAtMillis;
  }

  nowMillis(): number {
    return this.#machineMillis() + this.#aheadMillis;
  }

  /** When the next action comes due; undefined if none waits. */
  get nextMillis(): number | undefined {
    return this.#waiting[0]?.dueMillis;
  }

  after(delayMillis: number, action: () => Promise<void>): void {
    const dueMillis = this.nowMillis() + delayMillis;
    const later = this.#waiting.findIndex((other) => other.dueMillis > dueMillis);
    this.#waiting.splice(later === -1 ? this.#waiting.length : later, 0, { dueMillis, action });
    this.#setTimer();
  }

  /**
   * Moves the time forward by `millis`. Runs the actions that come due, one after the other. When
   * it resolves, each callback of this span has been sent and answered.
   */
  async advance(millis: number): Promise<void> {
    const untilMillis = this.nowMillis() + millis;
    for (;;) {
      const [next] = this.#waiting;
      if (next === undefined || next.dueMillis > untilMillis) break;
      this.#waiting.shift();
      this.#skipTo(next.dueMillis);
      await next.action();
    }
    this.#skipTo(untilMillis);
    this.#setTimer();
  }

  #skipTo(millis: number): void {
    this.#aheadMillis += Math.max(0, millis - this.nowMillis());
  }

  #setTimer(): void {
    clearTimeout(this.#timer);
    const { nextMillis } = this;
    if (this.#stands || nextMillis === undefined) return;
    const delayMillis = Math.min(nextMillis - this.nowMillis(), TIMER_MILLIS_MAX);
    this.#timer = setTimeout(() => {
      this.#runDue();
    }, delayMillis).unref();
  }

  /** The actions of a clock that goes on do not wait for each other. */
  #runDue(): void {
    while ((this.nextMillis ?? Infinity) <= this.nowMillis()) void this.#waiting.shift()?.action();
    this.#setTimer();
  }
}
