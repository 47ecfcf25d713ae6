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
  readonly #stopped = new AbortController();
  #loop: Promise<void> | undefined;

  constructor(options: BalancesOptions) {
    this.#options = options;
  }

  start(): void {
    this.#loop ??= this.#run();
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#loop;
  }

  async #run(): Promise<void> {
    const { timing } = this.#options;
    const { signal } = this.#stopped;
    // A server that has just started does not have the lease yet.
    await timing.wait(CALL_MILLIS_MAX, signal);
    while (!signal.aborted) {
      await this.#ask();
      await timing.wait(BALANCE_MILLIS, signal);
    }
  }

  async #ask(): Promise<void> {
    const { railAccounts, lease, onEvent } = this.#options;
    for (const { id, rail } of railAccounts.all()) {
      if (this.#stopped.signal.aborted || lease.leftMillis() < CALL_MILLIS_MAX) return;
      const deadline = AbortSignal.any([this.#stopped.signal, AbortSignal.timeout(CALL_MILLIS_MAX)]);
      const answer = await rail.askBalance(deadline);
      if (answer.kind === "unavailable") onEvent({ kind: "no balance", railAccountId: id, code: answer.code });
    }
  }
}
