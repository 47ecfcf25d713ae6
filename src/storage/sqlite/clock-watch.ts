import { uptime } from "node:os";

import { StoreError } from "../../ledger/ports/store.js";

/** A synchronized clock never jumps so far. */
const JUMP_MILLIS_MAX = 60_000;
/** The uptime is read from a file, so not with each of many calls. A jump is longer than this. */
const LOOK_AFTER_MILLIS = 1_000;

/**
 * Watches the clock of a machine that has no second one to compare: a clock that is set ahead would
 * set the times of all books ahead, for good. The uptime shows it. Nobody sets that, and it counts
 * the time in which a machine sleeps.
 */
export class ClockWatch {
  /** When the machine started, in the time of its clock. */
  readonly #startedAt = startOfMachine();
  #lookedAt = Date.now();
  #aheadMillis = 0;

  /** Throws a StoreError "unavailable" while the clock is a minute ahead of what it was. */
  refuseJump(): void {
    if (Math.abs(Date.now() - this.#lookedAt) > LOOK_AFTER_MILLIS) {
      this.#lookedAt = Date.now();
      this.#aheadMillis = startOfMachine() - this.#startedAt;
    }
    if (this.#aheadMillis <= JUMP_MILLIS_MAX) return;
    const seconds = String(Math.round(this.#aheadMillis / 1_000));
    const message =
      `the clock of this machine was set ${seconds} seconds ahead while the program ran, so nothing is committed: ` +
      "set it right; if it is right now, restart the program";
    throw new StoreError("unavailable", new Error(message));
  }
}

function startOfMachine(): number {
  return Date.now() - uptime() * 1_000;
}
