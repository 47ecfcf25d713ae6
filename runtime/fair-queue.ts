import { Queue } from "./queue.js";

/** The waiting items of one key. */
interface Line<Key, Item> {
  readonly key: Key;
  readonly items: Queue<Item>;
}

/**
 * A bounded queue that is shared fairly among keys. Each key has its own line, first in, first out.
 * The lines take turns, so every key is served equally often however many items it pushes.
 *
 * A line may grow as long as the free room of the queue. One key alone gets half of the queue;
 * beside n other greedy keys it gets 1 / (n + 2). So a new key always finds room. The queue never
 * searches for the longest line, and never evicts an item (docs/adr/0009).
 */
export class FairQueue<Key, Item> {
  readonly #lengthMax: number;
  readonly #lines = new Map<Key, Line<Key, Item>>();
  // The lines that are not empty. The first one is next.
  readonly #turns = new Queue<Line<Key, Item>>();
  #length = 0;

  constructor(lengthMax: number) {
    this.#lengthMax = lengthMax;
  }

  get length(): number {
    return this.#length;
  }

  /** The first item of each line. Each line is first in, first out. */
  *heads(): Iterable<Item> {
    for (const { items } of this.#lines.values()) if (items.first !== undefined) yield items.first;
  }

  /**
   * Adds the item at the end of the key's line. Returns false and does nothing if the line has used
   * its share.
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

  /** Removes the first item of the next line and returns it. */
  shift(): Item | undefined {
    return this.shiftLine(1)[0];
  }

  /** Removes the first items of the next line, at most `countMax`, and returns them. */
  shiftLine(countMax: number): readonly Item[] {
    const line = this.#turns.shift();
    if (line === undefined) return [];
    const items: Item[] = [];
    while (items.length < countMax) {
      const item = line.items.shift();
      if (item === undefined) break;
      items.push(item);
    }
    if (line.items.length > 0) this.#turns.push(line);
    else this.#lines.delete(line.key);
    this.#length -= items.length;
    return items;
  }
}
