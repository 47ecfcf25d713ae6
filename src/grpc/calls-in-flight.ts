/**
 * Counts the calls that the server holds, so that they have a bound and callers share it: each may
 * have no more than there is room left, alone half of all, and there is always room for whoever
 * comes next.
 */
export class CallsInFlight {
  readonly #callsMax: number;
  readonly #callsOf = new Map<string, number>();
  #calls = 0;

  constructor(callsMax: number) {
    this.#callsMax = callsMax;
  }

  /** Answers whether the caller may have one more; then `end` must follow, once. */
  begin(caller: string): boolean {
    const own = this.#callsOf.get(caller) ?? 0;
    if (own >= this.#callsMax - this.#calls) return false;
    this.#callsOf.set(caller, own + 1);
    this.#calls += 1;
    return true;
  }

  end(caller: string): void {
    const own = this.#callsOf.get(caller) ?? 0;
    if (own > 1) this.#callsOf.set(caller, own - 1);
    else this.#callsOf.delete(caller);
    this.#calls -= 1;
  }
}
