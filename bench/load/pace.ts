/** Timers have a grain of a millisecond and fire a little late: that is not the server's delay. */
const TIMER_MILLIS_MAX = 2;

/** Says when the next call is due at a fixed rate, whatever became of the calls before. */
export class Pace {
  readonly #millisBetween: number;
  #nextAt: number;

  /** The first call is due at `from`, on the clock of `performance.now()`. */
  constructor(ratePerSecond: number, from: number) {
    this.#millisBetween = 1000 / ratePerSecond;
    this.#nextAt = from;
  }

  /** Whether a call is due. */
  isDue(now: number): boolean {
    return this.#nextAt <= now;
  }

  /**
   * Takes the call that is due and returns the start of its latency. That is now if only a timer is
   * late. It is the due time if too many other calls had no answer yet: a server that stands still
   * would otherwise slow the load down, and few calls would show it.
   */
  take(now: number): number {
    const dueAt = this.#nextAt;
    this.#nextAt += this.#millisBetween;
    return now - dueAt <= TIMER_MILLIS_MAX ? now : dueAt;
  }
}
