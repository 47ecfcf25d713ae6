import type { EncodedEvent } from "./ports.js";

/** Events that follow one another, encoded once for all watchers. */
export interface EventBlock {
  /** The sequence before that of the first event. */
  readonly after: number;
  /** The sequence of the last event. */
  readonly upTo: number;
  readonly events: readonly EncodedEvent[];
  /** The message with all of them. */
  readonly message: Buffer;
}

/**
 * The newest blocks of one book, for all who watch it. The oldest blocks go when there is no room.
 * A watcher that has fallen behind them reads the book by itself.
 */
export class Tail {
  /** The blocks from `#first` on. Those before it are gone. */
  #blocks: (EventBlock | undefined)[] = [];
  #first = 0;
  #bytes = 0;
  #head: number | undefined;
  readonly #waiting = new Set<() => void>();
  watchers = 0;

  /** The last sequence that the tail has covered. Undefined until a watcher has begun. */
  get head(): number | undefined {
    return this.#head;
  }

  /** Begins after this sequence, unless the tail has begun already. */
  beginAfter(sequence: number): void {
    this.#head ??= sequence;
  }

  append(block: EventBlock, bytesMax: number): void {
    this.#blocks.push(block);
    this.#bytes += block.message.length;
    this.#head = block.upTo;
    while (this.#bytes > bytesMax) this.#dropFirst();
    for (const wake of [...this.#waiting]) wake();
  }

  /**
   * Returns the block with the event after this sequence. Returns undefined if there is none yet,
   * and "behind" if it is gone.
   */
  blockAfter(sequence: number): EventBlock | "behind" | undefined {
    if (this.#head === undefined) return "behind";
    if (sequence >= this.#head) return undefined;
    let [low, high] = [this.#first, this.#blocks.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#blocks[middle]?.upTo ?? 0) > sequence) high = middle;
      else low = middle + 1;
    }
    const block = this.#blocks[low];
    return block === undefined || block.after > sequence ? "behind" : block;
  }

  /** Resolves after the next block, after this time, or when the signal aborts. */
  wait(millis: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        clearTimeout(timer);
        this.#waiting.delete(wake);
        signal.removeEventListener("abort", wake);
        resolve();
      };
      const timer = setTimeout(wake, millis);
      this.#waiting.add(wake);
      signal.addEventListener("abort", wake);
      if (signal.aborted) wake();
    });
  }

  #dropFirst(): void {
    this.#bytes -= this.#blocks[this.#first]?.message.length ?? 0;
    this.#blocks[this.#first] = undefined;
    this.#first += 1;
    if (this.#first * 2 < this.#blocks.length) return;
    this.#blocks = this.#blocks.slice(this.#first);
    this.#first = 0;
  }
}
