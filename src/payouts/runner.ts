import { Loop } from "../../runtime/loop.js";
import { slicesOf } from "../../runtime/slices.js";
import type { LoopTiming } from "../../runtime/wait.js";
import type { PayoutRow } from "../domain/payout-file.js";
import { toUnixMillis, type UnixMillis } from "../domain/values/time.js";
import { isLeftOut, type OpenPart, type PayoutStore, type RefusedRow } from "./ports.js";

/** What the ledger made of a row. */
export type RowDecision =
  | { readonly kind: "accepted" }
  | { readonly kind: "refused"; readonly reason: string }
  /** The ledger did not decide it, or cannot now. The row is sent again. */
  | { readonly kind: "later" };

interface RunnerOptions {
  readonly store: PayoutStore;
  readonly lease: { leftMillis(): number };
  readonly redeem: (file: OpenPart["file"], row: PayoutRow) => Promise<RowDecision>;
  readonly timing: LoopTiming & { readonly now: () => UnixMillis };
  readonly onError: (error: unknown) => void;
}

const IDLE_MILLIS = 1_000;
/** These rows are in the ledger's queue together. A commit on SQLite takes 64. */
const ROWS_AT_ONCE = 64;
/** Rests this many times as long as the rows took, so that the mints of others keep their rate. */
const REST = 4;
/**
 * The payment of a row takes several times as much of the server as its redemption does. 50,000
 * rows take 21 minutes so.
 */
const ACCEPTED_PER_SECOND_MAX = 40;
const REMOVE_EVERY_MILLIS = 3_600_000;
/** A proposal lapses after three days. */
const KEEP_UNAPPROVED_MILLIS = 5 * 86_400_000;

/**
 * Redeems the rows of approved files. Files take turns, a part at a time. After a stop at any step
 * the part runs again: the reference of a row makes each redemption one.
 */
export class PayoutRunner {
  readonly #options: RunnerOptions;
  readonly #loop: Loop;
  #removedAt = -Infinity;

  constructor(options: RunnerOptions) {
    this.#options = options;
    this.#loop = new Loop({ step: () => this.#step(), wait: options.timing.wait });
  }

  start(): void {
    this.#loop.start();
  }

  /** Sends no more rows. The rows that the ledger has are decided. */
  async stop(): Promise<void> {
    await this.#loop.stop();
  }

  async #step(): Promise<number> {
    const { store, onError } = this.#options;
    if (!this.#mayRun()) return IDLE_MILLIS;
    try {
      await this.#removeUnapproved();
      const open = await store.open();
      let finished = 0;
      for (const part of open) {
        // A file that fails stops no other.
        if (await this.#run(part).catch(onError)) finished += 1;
      }
      return finished > 0 ? 0 : IDLE_MILLIS;
    } catch (error) {
      onError(error);
      return IDLE_MILLIS;
    }
  }

  /** The lease can end, and the runner can stop, between two steps. */
  #mayRun(): boolean {
    return !this.#loop.isStopped && this.#options.lease.leftMillis() > 0;
  }

  /** Returns whether the ledger has decided each row of the part. */
  async #run(part: OpenPart): Promise<boolean> {
    const { store, redeem, timing } = this.#options;
    const rows = part.items.filter((item) => !isLeftOut(item)) as readonly PayoutRow[];
    const refused: RefusedRow[] = [];
    for (const some of slicesOf(rows, ROWS_AT_ONCE)) {
      if (!this.#mayRun()) return false;
      const begun = timing.monotonicMillis();
      const decisions = await Promise.all(some.map((row) => redeem(part.file, row)));
      for (const [index, decision] of decisions.entries()) {
        const line = some[index]?.line ?? 0;
        if (decision.kind === "refused") refused.push({ line, reason: decision.reason });
      }
      if (decisions.some(({ kind }) => kind === "later")) return false;
      const tookMillis = timing.monotonicMillis() - begun;
      const accepted = decisions.filter(({ kind }) => kind === "accepted").length;
      const turnMillis = (accepted * 1_000) / ACCEPTED_PER_SECOND_MAX;
      await timing.wait(Math.max(tookMillis * REST, turnMillis - tookMillis), this.#loop.signal);
    }
    await store.finish(part, refused);
    return true;
  }

  async #removeUnapproved(): Promise<void> {
    const { store, timing } = this.#options;
    const at = timing.monotonicMillis();
    if (at - this.#removedAt < REMOVE_EVERY_MILLIS) return;
    await store.removeUnapproved(toUnixMillis(timing.now() - KEEP_UNAPPROVED_MILLIS));
    this.#removedAt = at;
  }
}
