/**
 * Timers have a grain of a millisecond, and come a little late: so much says nothing about the
 * server.
 */
const TIMER_MILLIS_MAX = 2;

/** Says when the next call is due at a fixed rate, whatever became of the calls before. */
export class Pace {
  readonly #millisecondsBetween: number;
  #nextAt: number;

  /** The first call is due at `from`, on the clock of `performance.now()`. */
  constructor(ratePerSecond: number, from: number) {
    this.#millisecondsBetween = 1000 / ratePerSecond;
    this.#nextAt = from;
  }

  /** Whether a call is due. */
  isDue(now: number): boolean {
    return this.#nextAt <= now;
  }

  /**
   * Takes the call that is due and answers from when its time counts. That is now, as long as it is
   * only a timer late; a call that had to wait longer, because too many others had no answer yet,
   * counts from when it was due. Otherwise a server that stands still would slow the load down, and
   * few calls would tell of it.
   */
  take(now: number): number {
    const dueAt = this.#nextAt;
    this.#nextAt += this.#millisecondsBetween;
    return now - dueAt <= TIMER_MILLIS_MAX ? now : dueAt;
  }
}
