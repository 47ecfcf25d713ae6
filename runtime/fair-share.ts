/**
 * Shares a fixed number of slots among callers. A caller may hold no more slots than are free: one
 * caller alone gets half of them, and the next caller always finds a slot.
 */
export class FairShare {
  readonly #slotsMax: number;
  readonly #slotsOf = new Map<string, number>();
  #slots = 0;

  constructor(slotsMax: number) {
    this.#slotsMax = slotsMax;
  }

  /** Returns whether the caller got a slot. If so, the caller must release it exactly once. */
  acquire(caller: string): boolean {
    const own = this.#slotsOf.get(caller) ?? 0;
    if (own >= this.#slotsMax - this.#slots) return false;
    this.#slotsOf.set(caller, own + 1);
    this.#slots += 1;
    return true;
  }

  release(caller: string): void {
    const own = this.#slotsOf.get(caller) ?? 0;
    if (own > 1) this.#slotsOf.set(caller, own - 1);
    else this.#slotsOf.delete(caller);
    this.#slots -= 1;
  }
}

/**
 * Returns the name under which a caller shares. Takes the header `x-api-key`, or `authorization` if
 * there is none. Calls with the same key have the same name. The key may be invalid.
 */
export function callerOf(credential: string): string {
  // The scheme "Bearer" can be written in any case, with any number of blanks after it.
  return credential.slice(credential.lastIndexOf(" ") + 1);
}
