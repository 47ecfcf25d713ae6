const TWO_TO_32 = 2 ** 32;

/**
 * Numbers that look like chance and follow from the seed alone, by the generator mulberry32. It is
 * written by hand: the seeds that the tests name belong to this sequence.
 */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** A whole number from 0 to `end` - 1. */
  below(end: number): number {
    return Math.floor((this.#next() / TWO_TO_32) * end);
  }

  /** A whole number from `min` to `max`, both included. */
  between(min: number, max: number): number {
    return min + this.below(max - min + 1);
  }

  /** True in this share of the cases. */
  chance(share: number): boolean {
    return this.#next() < share * TWO_TO_32;
  }

  pick<Item>(items: readonly Item[]): Item {
    const item = items[this.below(items.length)];
    if (item === undefined) throw new Error("there is nothing to pick from");
    return item;
  }

  pickWeighted<Item extends { readonly weight: number }>(items: readonly Item[]): Item {
    let sum = 0;
    for (const { weight } of items) sum += weight;
    let left = (this.#next() / TWO_TO_32) * sum;
    for (const item of items) {
      left -= item.weight;
      if (left < 0) return item;
    }
    throw new Error("there is nothing to pick from");
  }

  #next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  }
}
