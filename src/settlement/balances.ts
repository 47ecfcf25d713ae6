import { Loop } from "../../runtime/loop.js";
import { BALANCE_MILLIS, CALL_MILLIS_MAX } from "./limits.js";
import type { UsableAccounts } from "./ports/rail-accounts.js";
import type { HeldLease, OnEvent, SettlementTiming } from "./ports/runtime.js";

interface BalancesOptions {
  readonly railAccounts: UsableAccounts;
  readonly lease: HeldLease;
  readonly timing: SettlementTiming;
  readonly onEvent: OnEvent;
}

/**
 * Asks each rail account for its balance once an hour, while this server has the lease. The answer
 * comes as a message.
 */
export class BalanceReader {
  readonly #options: BalancesOptions;
  readonly #loop: Loop;

  constructor(options: BalancesOptions) {
    this.#options = options;
    const step = async (): Promise<number> => {
      await this.#ask();
      return BALANCE_MILLIS;
    };
    // A server that has just started does not have the lease yet.
    this.#loop = new Loop({ step, wait: options.timing.wait, delayMillis: CALL_MILLIS_MAX });
  }

  start(): void {
    this.#loop.start();
  }

  stop(): Promise<void> {
    return this.#loop.stop();
  }

  async #ask(): Promise<void> {
    const { railAccounts, lease, onEvent } = this.#options;
    for (const { id, rail } of railAccounts.all()) {
      if (this.#loop.isStopped || lease.leftMillis() < CALL_MILLIS_MAX) return;
      const deadline = AbortSignal.any([this.#loop.signal, AbortSignal.timeout(CALL_MILLIS_MAX)]);
      const answer = await rail.askBalance(deadline);
      if (answer.kind === "unavailable") onEvent({ kind: "no balance", railAccountId: id, code: answer.code });
    }
  }
}
