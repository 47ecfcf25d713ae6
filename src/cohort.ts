/**
 * Gathers what comes in one by one, and does it together: as soon as enough has gathered, and at
 * the latest when the schedule says. Neighbours find the processor's caches full of what they need;
 * alone, each would fill them anew. For a read that is most of its cost (docs/adr/0012).
 *
 * In order of arrival. Calls nobody with nothing.
 */
export class Cohort<Item> {
  readonly #options: CohortOptions<Item>;
  #gathered: Item[] = [];

  constructor(options: CohortOptions<Item>) {
    this.#options = options;
  }

  add(item: Item): void {
    const { enough, schedule } = this.#options;
    this.#gathered.push(item);
    if (this.#gathered.length === 1) {
      schedule(() => {
        this.flush();
      });
    }
    if (this.#gathered.length === enough) this.flush();
  }

  /** Does now what has gathered. */
  flush(): void {
    if (this.#gathered.length === 0) return;
    const gathered = this.#gathered;
    this.#gathered = [];
    this.#options.doAll(gathered);
  }
}

export interface CohortOptions<Item> {
  readonly schedule: Schedule;
  /** How many do not wait for the schedule. Endless when omitted. */
  readonly enough?: number;
  /** Must not throw: whoever added the last item has nothing to do with it. */
  readonly doAll: (items: readonly Item[]) => void;
}

/** When to do at the latest what has gathered. */
export type Schedule = (callback: () => void) => void;

/** When all that this turn of the event loop brings has come in. */
export const atEndOfTurn: Schedule = (callback) => {
  setImmediate(callback);
};

/** When what is running now has run to its end, with the promises that it has settled. */
export const afterThis: Schedule = (callback) => {
  process.nextTick(callback);
};
