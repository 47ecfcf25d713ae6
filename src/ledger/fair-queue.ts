import { Queue } from "../../runtime/queue.js";

/** Those of one key that wait. */
interface Line<Key, Item> {
  readonly key: Key;
  readonly items: Queue<Item>;
}

/**
 * A bounded queue in which everyone who waits gets the same share, whoever pushes how much: a line
 * for each key, first in first out, and the lines take turns.
 *
 * A line may be as long as the room that is left: alone it gets half of the queue, with n others
 * that are as greedy a share of 1 in n + 2. So there is room for whoever comes next, without
 * looking for the longest line or turning out anyone who was let in.
 */
export class FairQueue<Key, Item> {
  readonly #lengthMax: number;
  readonly #lines = new Map<Key, Line<Key, Item>>();
  // The lines with someone in them; the first is next.
  readonly #turns = new Queue<Line<Key, Item>>();
  #length = 0;

  constructor(lengthMax: number) {
    this.#lengthMax = lengthMax;
  }

  get length(): number {
    return this.#length;
  }

  /**
   * Puts the item at the end of the key's line. Answers false, and does nothing, when the line has
   * had its share.
   */
  push(key: Key, item: Item): boolean {
    let line = this.#lines.get(key);
    if ((line?.items.length ?? 0) >= this.#lengthMax - this.#length) return false;
    if (line === undefined) {
      line = { key, items: new Queue() };
      this.#lines.set(key, line);
      this.#turns.push(line);
    }
    line.items.push(item);
    this.#length += 1;
    return true;
  }

  /** Takes out the first of the line whose turn it is. */
  shift(): Item | undefined {
    const line = this.#turns.shift();
    if (line === undefined) return undefined;
    const item = line.items.shift();
    if (line.items.length > 0) this.#turns.push(line);
    else this.#lines.delete(line.key);
    this.#length -= 1;
    return item;
  }
}
