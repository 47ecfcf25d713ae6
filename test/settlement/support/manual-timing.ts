import { toUnixMillis, type UnixMillis } from "../../../src/domain/values/time.js";
import type { SettlementTiming } from "../../../src/settlement/ports/runtime.js";
import { NOW } from "../../support/names.js";

/** A clock that a test moves. Waits end when it reaches their time. */
export class ManualTiming implements SettlementTiming {
  #millis = 0;
  #waits: { readonly at: number; readonly resolve: () => void }[] = [];

  readonly now = (): UnixMillis => toUnixMillis(NOW + this.#millis);

  readonly monotonicMillis = (): number => this.#millis;

  readonly wait = (millis: number, signal: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      if (signal.aborted) {
        resolve();
        return;
      }
      const end = (): void => {
        signal.removeEventListener("abort", end);
        resolve();
      };
      this.#waits.push({ at: this.#millis + millis, resolve: end });
      signal.addEventListener("abort", end);
    });

  /** Lets time pass, from one wait to the next. With `stepMillis`, waits may end later by that. */
  async pass(millis: number, stepMillis = 0): Promise<void> {
    const end = this.#millis + millis;
    await settled();
    for (;;) {
      const next = Math.max(Math.min(...this.#waits.map(({ at }) => at)), this.#millis + stepMillis);
      if (next > end) break;
      this.#millis = next;
      const due = this.#waits.filter(({ at }) => at <= next);
      this.#waits = this.#waits.filter(({ at }) => at > next);
      for (const { resolve } of due) resolve();
      await settled();
    }
    this.#millis = end;
    await settled();
  }

  /** Moves the clock, and ends no wait. */
  jump(millis: number): void {
    this.#millis += millis;
  }
}

/** Lets everything run that can run now. */
export async function settled(): Promise<void> {
  for (let turns = 0; turns < 3; turns += 1) await new Promise(setImmediate);
}
