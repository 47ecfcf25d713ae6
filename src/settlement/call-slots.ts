import { CALLS_MAX } from "./limits.js";

interface SlotsOfAccount {
  /** The work that runs, each with at most one call at a time. */
  busy: number;
  readonly line: (() => void)[];
}

/** The slots for calls to each rail account. Work that finds none free may wait in line for one. */
export class CallSlots<Id> {
  readonly #accounts = new Map<Id, SlotsOfAccount>();
  readonly #full = new Set<Id>();
  readonly #onFree: () => void;

  /** `onFree` is called when a slot is free again at an account where `freeOf` found none. */
  constructor(onFree: () => void) {
    this.#onFree = onFree;
  }

  /** The number of slots that are free now. Remembers if there is none. */
  freeOf(id: Id): number {
    const free = CALLS_MAX - (this.#accounts.get(id)?.busy ?? 0);
    if (free === 0) this.#full.add(id);
    return free;
  }

  waitingOf(id: Id): number {
    return this.#accounts.get(id)?.line.length ?? 0;
  }

  /** Runs the work as soon as a slot is free, in the order of the calls. */
  async in<Result>(id: Id, work: () => Promise<Result>): Promise<Result> {
    const slots = this.#accounts.get(id) ?? { busy: 0, line: [] };
    this.#accounts.set(id, slots);
    if (slots.busy < CALLS_MAX) slots.busy += 1;
    else await new Promise<void>((resolve) => slots.line.push(resolve));
    try {
      return await work();
    } finally {
      this.#leave(id, slots);
    }
  }

  #leave(id: Id, slots: SlotsOfAccount): void {
    const next = slots.line.shift();
    if (next !== undefined) {
      next();
      return;
    }
    slots.busy -= 1;
    if (slots.busy === 0) this.#accounts.delete(id);
    if (this.#full.delete(id)) this.#onFree();
  }
}
