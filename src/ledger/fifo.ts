interface Link<Item> {
  readonly item: Item;
  next: Link<Item> | undefined;
}

/**
 * First in, first out. Both ends cost the same however long it is, which an array's shift() does
 * not.
 */
export class Fifo<Item> {
  #first: Link<Item> | undefined;
  #last: Link<Item> | undefined;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  push(item: Item): void {
    const link: Link<Item> = { item, next: undefined };
    if (this.#last === undefined) this.#first = link;
    else this.#last.next = link;
    this.#last = link;
    this.#length += 1;
  }

  /** Takes out the one that has been in it longest. */
  shift(): Item | undefined {
    const link = this.#first;
    if (link === undefined) return undefined;
    this.#first = link.next;
    if (link.next === undefined) this.#last = undefined;
    // Or an old link, long taken out, would keep all that come after it from the small garbage
    // collections (docs/adr/0015).
    link.next = undefined;
    this.#length -= 1;
    return link.item;
  }
}
