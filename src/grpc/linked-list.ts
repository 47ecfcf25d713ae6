/** A place in a list, for whoever put something there. */
export interface Link<Item> {
  readonly item: Item;
  previous: Link<Item> | undefined;
  next: Link<Item> | undefined;
  isIn: boolean;
}

/**
 * Items in the order in which they came, each of which can leave at any time, at the same cost
 * however many there are. A Set would do, but for the garbage collector: see docs/adr/0015.
 */
export class LinkedList<Item> {
  #first: Link<Item> | undefined;
  #last: Link<Item> | undefined;

  /** Puts the item at the end. */
  add(item: Item): Link<Item> {
    const link: Link<Item> = { item, previous: this.#last, next: undefined, isIn: true };
    if (this.#last === undefined) this.#first = link;
    else this.#last.next = link;
    this.#last = link;
    return link;
  }

  /** Takes the item out, and answers whether it was in. */
  remove(link: Link<Item>): boolean {
    if (!link.isIn) return false;
    const { previous, next } = link;
    if (previous === undefined) this.#first = next;
    else previous.next = next;
    if (next === undefined) this.#last = previous;
    else next.previous = previous;
    // Nothing leads from what is out to what is in.
    link.previous = undefined;
    link.next = undefined;
    link.isIn = false;
    return true;
  }

  /** From the first to the last. The one that has just been given may be removed meanwhile. */
  *[Symbol.iterator](): Iterator<Item> {
    for (let link = this.#first; link !== undefined;) {
      const { item, next } = link;
      yield item;
      link = next;
    }
  }
}
