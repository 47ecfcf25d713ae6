import type { LeaseStore } from "../../../../src/leases/ports.js";

/** Leases by one clock, which is that of the database. */
export class MemoryLeases implements LeaseStore {
  readonly #now: () => number;
  readonly #leases = new Map<string, { readonly holder: string; readonly endsAt: number }>();

  constructor(now: () => number) {
    this.#now = now;
  }

  take(name: string, { holder, millis }: { holder: string; millis: number }): Promise<boolean> {
    const lease = this.#leases.get(name);
    const isFree = lease === undefined || lease.holder === holder || lease.endsAt <= this.#now();
    if (isFree) this.#leases.set(name, { holder, endsAt: this.#now() + millis });
    return Promise.resolve(isFree);
  }

  release(name: string, holder: string): Promise<void> {
    if (this.#leases.get(name)?.holder === holder) this.#leases.delete(name);
    return Promise.resolve();
  }
}
