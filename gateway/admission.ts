// Refusing costs about as much as a quick answer, and whoever is refused at once is back at once.
const ANSWERS_PER_REFUSAL = 16;
// Past so many the next is told at once: who has hung up since still waits here, in memory.
const REFUSALS_WAITING_MAX = 20_000;

/**
 * Lets in so many requests at a time, and of each caller no more than there is room left: one alone gets half of it, and
 * there is always room for whoever comes next. Whoever gets none hears so when others have been answered.
 */
export class Admission {
  readonly #requestsMax: number;
  readonly #requestsOf = new Map<string, number>();
  #refused: (() => void)[] = [];
  #requests = 0;
  #answers = 0;

  constructor(requestsMax: number) {
    this.#requestsMax = requestsMax;
  }

  /** Answers whether the caller is in; then `leave` must follow, once. */
  enter(caller: string): Promise<boolean> | true {
    const own = this.#requestsOf.get(caller) ?? 0;
    if (own >= this.#requestsMax - this.#requests) {
      if (this.#refused.length >= REFUSALS_WAITING_MAX) return Promise.resolve(false);
      return new Promise((resolve) => {
        this.#refused.push(() => {
          resolve(false);
        });
      });
    }
    this.#requestsOf.set(caller, own + 1);
    this.#requests += 1;
    return true;
  }

  leave(caller: string): void {
    const own = this.#requestsOf.get(caller) ?? 0;
    if (own > 1) this.#requestsOf.set(caller, own - 1);
    else this.#requestsOf.delete(caller);
    this.#requests -= 1;
    this.#answers += 1;
    if (this.#requests === 0) this.#refuseAll();
    else if (this.#answers % ANSWERS_PER_REFUSAL === 0) this.#refused.shift()?.();
  }

  #refuseAll(): void {
    const refused = this.#refused;
    this.#refused = [];
    for (const refuse of refused) refuse();
  }
}
