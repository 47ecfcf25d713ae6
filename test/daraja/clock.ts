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

/**
 * The clock of `make daraja`: an action runs when its time has really come. A waiting action keeps
 * no process alive.
 */
export class WallClock implements Clock {
  nowMillis(): number {
    return Date.now();
  }

  after(delayMillis: number, action: () => Promise<void>): void {
    setTimeout(() => void action(), delayMillis).unref();
  }
}

/** Stands still until a test advances it. */
export class ManualClock implements Clock {
  #nowMillis: number;
  /** In the order in which they run. */
  readonly #waiting: { dueMillis: number; action: () => Promise<void> }[] = [];

  constructor(startMillis = Date.UTC(2026, 0, 5, 6)) {
    this.#nowMillis = startMillis;
  }

  nowMillis(): number {
    return this.#nowMillis;
  }

  /** When the next action comes due; undefined if none waits. */
  get nextMillis(): number | undefined {
    return this.#waiting[0]?.dueMillis;
  }

  after(delayMillis: number, action: () => Promise<void>): void {
    const dueMillis = this.#nowMillis + delayMillis;
    const later = this.#waiting.findIndex((other) => other.dueMillis > dueMillis);
    this.#waiting.splice(later === -1 ? this.#waiting.length : later, 0, { dueMillis, action });
  }

  /**
   * Moves the time forward by `millis`. Runs the actions that come due, one after the other. When
   * it resolves, each callback of this span has been sent and answered.
   */
  async advance(millis: number): Promise<void> {
    const untilMillis = this.#nowMillis + millis;
    for (;;) {
      const [next] = this.#waiting;
      if (next === undefined || next.dueMillis > untilMillis) break;
      this.#waiting.shift();
      this.#nowMillis = next.dueMillis;
      await next.action();
    }
    this.#nowMillis = untilMillis;
  }
}
