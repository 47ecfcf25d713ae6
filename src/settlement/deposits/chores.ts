import { toUnixMillis, type UnixMillis } from "../../domain/values/time.js";
import { CHORES_MILLIS, TYPED_AT_ONCE } from "../limits.js";
import type { Deposits } from "../ports/deposits.js";
import type { SettlementTiming } from "../ports/runtime.js";

const START: UnixMillis = toUnixMillis(0);

export interface DepositChoresOptions {
  readonly deposits: Deposits;
  /** What a payer typed is removed after this time. */
  readonly typedMillisMax: number;
  readonly timing: SettlementTiming;
}

/** Removes what payers typed: after some time, and soon after the account's person was erased. */
export class DepositChores {
  readonly #options: DepositChoresOptions;
  /** By the monotonic clock. */
  #dueAt = 0;
  #typedFrom = START;

  constructor(options: DepositChoresOptions) {
    this.#options = options;
  }

  /** Does a bounded part, if it is time. The rest follows at the next look. */
  async look(): Promise<void> {
    const { timing } = this.#options;
    if (timing.monotonicMillis() < this.#dueAt) return;
    const hasMore = await this.#forgetOld();
    await this.#forgetErased();
    if (!hasMore) this.#dueAt = timing.monotonicMillis() + CHORES_MILLIS;
  }

  async #forgetOld(): Promise<boolean> {
    const { deposits, typedMillisMax, timing } = this.#options;
    const before = toUnixMillis(Math.max(0, timing.now() - typedMillisMax));
    return (await deposits.forgetTyped({ before, limit: TYPED_AT_ONCE })) === TYPED_AT_ONCE;
  }

  /** Each look goes on where the one before has stopped, and from the start after the last text. */
  async #forgetErased(): Promise<void> {
    const next = await this.#options.deposits.forgetErased({ from: this.#typedFrom, limit: TYPED_AT_ONCE });
    this.#typedFrom = next ?? START;
  }
}
