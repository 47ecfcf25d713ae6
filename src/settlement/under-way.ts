import { REST_MILLIS } from "./limits.js";

/** The work of one kind that runs in this process, or rests for a moment after it failed. */
export class UnderWay<Key> {
  readonly #monotonicMillis: () => number;
  readonly #running = new Map<Key, Promise<void>>();
  /** Until when, by the monotonic clock. */
  readonly #resting = new Map<Key, number>();

  constructor(monotonicMillis: () => number) {
    this.#monotonicMillis = monotonicMillis;
  }

  /** How much work must not be started. */
  get size(): number {
    this.#wake();
    return this.#running.size + this.#resting.size;
  }

  has(key: Key): boolean {
    this.#wake();
    return this.#running.has(key) || this.#resting.has(key);
  }

  /** Runs the work. If it resolves with false or rejects, its key rests. */
  run(key: Key, work: () => Promise<boolean>, onError: (error: unknown) => void): void {
    const running = work()
      .catch((error: unknown) => {
        onError(error);
        return false;
      })
      .then((isDone) => {
        this.#running.delete(key);
        if (!isDone) this.#resting.set(key, this.#monotonicMillis() + REST_MILLIS);
      });
    this.#running.set(key, running);
  }

  /** Resolves once no work runs. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running.values());
  }

  #wake(): void {
    for (const [key, until] of this.#resting) if (until <= this.#monotonicMillis()) this.#resting.delete(key);
  }
}
