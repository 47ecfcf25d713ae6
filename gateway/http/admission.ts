// Refusing costs about as much as a quick answer, and whoever is refused at once is back at once.
const ANSWERS_PER_REFUSAL = 32;
// Past so many the next is told at once: who has hung up since still waits here, in memory.
const WAITING_MAX = 20_000;

interface Waiting {
  readonly caller: string;
  readonly answer: (isIn: boolean) => void;
}

/**
 * Lets in so many requests at a time, and of each caller no more than there is room left: one alone
 * gets half of it, and there is always room for whoever comes next. Who finds none waits for it,
 * and is refused when many others have been answered meanwhile, who waits longest first.
 */
export class Admission {
  readonly #requestsMax: number;
  readonly #requestsOf = new Map<string, number>();
  readonly #waiting: Waiting[] = [];
  #requests = 0;
  #answers = 0;

  constructor(requestsMax: number) {
    this.#requestsMax = requestsMax;
  }

  /** Answers whether the caller is in; then `leave` must follow, once. */
  enter(caller: string): Promise<boolean> | true {
    if (this.#hasRoomFor(caller)) {
      this.#letIn(caller);
      return true;
    }
    if (this.#waiting.length >= WAITING_MAX) return Promise.resolve(false);
    return new Promise((resolve) => {
      this.#waiting.push({ caller, answer: resolve });
    });
  }

  leave(caller: string): void {
    const own = this.#requestsOf.get(caller) ?? 0;
    if (own > 1) this.#requestsOf.set(caller, own - 1);
    else this.#requestsOf.delete(caller);
    this.#requests -= 1;
    this.#answers += 1;
    if (this.#answers % ANSWERS_PER_REFUSAL === 0) this.#waiting.shift()?.answer(false);
    this.#letWaitingIn();
  }

  #hasRoomFor(caller: string): boolean {
    return (this.#requestsOf.get(caller) ?? 0) < this.#requestsMax - this.#requests;
  }

  #letIn(caller: string): void {
    this.#requestsOf.set(caller, (this.#requestsOf.get(caller) ?? 0) + 1);
    this.#requests += 1;
  }

  #letWaitingIn(): void {
    for (let next = this.#waiting[0]; next !== undefined && this.#hasRoomFor(next.caller); next = this.#waiting[0]) {
      this.#waiting.shift();
      this.#letIn(next.caller);
      next.answer(true);
    }
  }
}
