import type { WebhookEvent } from "./ports/delivery.js";

/**
 * Events of a book that are delivered in the order of their sequences, up to a bounded number at a
 * time. `settledSeq` stays before the first that is not settled.
 */
export class Track {
  /** The last sequence to deliver. */
  untilSeq: number;
  #readSeq: number;
  readonly #waiting: WebhookEvent[] = [];
  /** The sequences that are read and not settled, in their order. */
  readonly #open = new Set<number>();

  constructor({ settledSeq, untilSeq }: { readonly settledSeq: number; readonly untilSeq: number }) {
    this.#readSeq = settledSeq;
    this.untilSeq = untilSeq;
  }

  get settledSeq(): number {
    const [first] = this.#open;
    return first === undefined ? this.#readSeq : first - 1;
  }

  /** The sequence after which to read on. Undefined if nothing is to be read now. */
  get readAfter(): number | undefined {
    return this.#waiting.length === 0 && this.#readSeq < this.untilSeq ? this.#readSeq : undefined;
  }

  get hasWaiting(): boolean {
    return this.#waiting.length > 0;
  }

  /** Whether everything up to `untilSeq` is settled. */
  get isAtEnd(): boolean {
    return this.settledSeq >= this.untilSeq;
  }

  /** Takes the events that were read after `readAfter`. Those that are not wanted are settled. */
  add(events: readonly WebhookEvent[], isWanted: (event: WebhookEvent) => boolean): void {
    for (const event of events) {
      if (event.seq !== this.#readSeq + 1) throw new Error(`the event after ${String(this.#readSeq)} is missing`);
      if (event.seq > this.untilSeq) return;
      this.#readSeq = event.seq;
      if (!isWanted(event)) continue;
      this.#open.add(event.seq);
      this.#waiting.push(event);
    }
  }

  /** Takes the next event. It stays open until it is settled. */
  next(): WebhookEvent | undefined {
    return this.#waiting.shift();
  }

  /** Gives back an event that `next` returned: it is the next one again. */
  giveBack(event: WebhookEvent): void {
    this.#waiting.unshift(event);
  }

  settle(seq: number): void {
    this.#open.delete(seq);
  }
}
