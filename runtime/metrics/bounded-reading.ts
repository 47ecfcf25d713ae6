import { wait } from "../wait.js";

interface BoundedReadingOptions<Value> {
  readonly read: () => Promise<Value>;
  /** A value is read anew only after this time. */
  readonly everyMillis: number;
  /** A caller waits this long for a new value, and then takes the last one. */
  readonly waitMillis: number;
  /** A value that is older is not used. */
  readonly keepMillis: number;
  readonly monotonicMillis: () => number;
  readonly onError: (error: unknown) => void;
}

/**
 * Reads a value that costs something, at most once in a while and never twice at a time, however
 * often callers ask.
 */
export class BoundedReading<Value> {
  readonly #options: BoundedReadingOptions<Value>;
  #reading: Promise<void> | undefined;
  #begunAt = -Infinity;
  #last: { readonly value: Value; readonly readAt: number } | undefined;

  constructor(options: BoundedReadingOptions<Value>) {
    this.#options = options;
  }

  /** Returns the value, or undefined if none could be read lately. Never rejects. */
  async value(): Promise<Value | undefined> {
    const { everyMillis, waitMillis, keepMillis, monotonicMillis } = this.#options;
    if (this.#reading === undefined && monotonicMillis() - this.#begunAt >= everyMillis) this.#begin();
    if (this.#reading !== undefined) {
      const waited = new AbortController();
      await Promise.race([this.#reading, wait(waitMillis, waited.signal)]);
      waited.abort();
    }
    const last = this.#last;
    return last === undefined || monotonicMillis() - last.readAt > keepMillis ? undefined : last.value;
  }

  #begin(): void {
    const { read, monotonicMillis, onError } = this.#options;
    this.#begunAt = monotonicMillis();
    this.#reading = read()
      .then((value) => {
        this.#last = { value, readAt: monotonicMillis() };
      })
      .catch(onError)
      .finally(() => {
        this.#reading = undefined;
      });
  }
}
