/** The place of an item in a queue. `Queue.remove` takes it. */
export interface QueueLink<Item> {
  readonly item: Item;
  previous: QueueLink<Item> | undefined;
  next: QueueLink<Item> | undefined;
  isIn: boolean;
}

/**
 * First in, first out; any item can leave at any time. Each operation takes constant time, unlike
 * an array's shift(). A Set would keep removed items alive for the young garbage collections:
 * without such chains the gateway's survivors fell from 42 to 4 % (docs/adr/0015).
 */
export class Queue<Item> {
  #first: QueueLink<Item> | undefined;
  #last: QueueLink<Item> | undefined;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** The oldest item. */
  get first(): Item | undefined {
    return this.#first?.item;
  }

  /** Adds the item at the end. */
  push(item: Item): QueueLink<Item> {
    const link: QueueLink<Item> = { item, previous: this.#last, next: undefined, isIn: true };
    if (this.#last === undefined) this.#first = link;
    else this.#last.next = link;
    this.#last = link;
    this.#length += 1;
    return link;
  }

  /** Removes the oldest item and returns it. */
  shift(): Item | undefined {
    const link = this.#first;
    if (link === undefined) return undefined;
    this.remove(link);
    return link.item;
  }

  /** Removes one item. Returns whether it was still in the queue. */
  remove(link: QueueLink<Item>): boolean {
    if (!link.isIn) return false;
    const { previous, next } = link;
    if (previous === undefined) this.#first = next;
    else previous.next = next;
    if (next === undefined) this.#last = previous;
    else next.previous = previous;
    // Clears the links of a removed item; otherwise it would keep its neighbours alive
    // (docs/adr/0015).
    link.previous = undefined;
    link.next = undefined;
    link.isIn = false;
    this.#length -= 1;
    return true;
  }

  /** Iterates from the oldest to the newest. The caller may remove the item that it just got. */
  *[Symbol.iterator](): Iterator<Item> {
    for (let link = this.#first; link !== undefined;) {
      const { item, next } = link;
      yield item;
      link = next;
    }
  }
}
