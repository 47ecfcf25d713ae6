import { slicesOf } from "../../../runtime/slices.js";
import type { RailCommand } from "../../domain/operations.js";
import type { Actor } from "../../domain/values/actor.js";
import type { DepositReference } from "../../domain/values/deposit-reference.js";
import { toUnixMillis, type UnixMillis } from "../../domain/values/time.js";
import { CHORES_MILLIS, NUMBERED_AT_ONCE, PAYMENTS_AT_ONCE, RESULT_MILLIS_MAX, TYPED_AT_ONCE } from "../limits.js";
import type { Deposits, UnnumberedAccount } from "../ports/deposits.js";
import type { SettlementTiming, Submit } from "../ports/runtime.js";

const START: UnixMillis = toUnixMillis(0);

export interface DepositChoresOptions {
  readonly deposits: Deposits;
  readonly submit: Submit<RailCommand>;
  readonly newDepositReferences: () => readonly DepositReference[];
  /** What a payer typed is removed after this time. */
  readonly typedMillisMax: number;
  readonly timing: SettlementTiming;
}

/**
 * Gives numbers to accounts from before there were deposits, and removes what payers typed: after
 * some time, and soon after the account's person was erased.
 */
export class DepositChores {
  readonly #options: DepositChoresOptions;
  /** By the monotonic clock. */
  #dueAt = 0;
  #typedFrom = START;

  constructor(options: DepositChoresOptions) {
    this.#options = options;
  }

  /** Does a bounded part, if it is time. The rest follows at the next look. */
  async look(signal: AbortSignal): Promise<void> {
    const { timing } = this.#options;
    if (timing.monotonicMillis() < this.#dueAt) return;
    const hasMore = [await this.#number(signal), await this.#forgetOld()];
    await this.#forgetErased();
    if (!hasMore.includes(true)) this.#dueAt = timing.monotonicMillis() + CHORES_MILLIS;
  }

  async #number(signal: AbortSignal): Promise<boolean> {
    const accounts = await this.#options.deposits.unnumberedAccounts(NUMBERED_AT_ONCE);
    let numbered = 0;
    for (const some of slicesOf(accounts, PAYMENTS_AT_ONCE)) {
      if (signal.aborted) break;
      const isDone = await Promise.all(some.map((account) => this.#submit(account)));
      numbered += isDone.filter(Boolean).length;
    }
    // Accounts that the ledger does not number now must not make the looks run without a rest.
    return numbered > 0 && accounts.length === NUMBERED_AT_ONCE;
  }

  async #submit({ organizationId, accountId, rail }: UnnumberedAccount): Promise<boolean> {
    const { submit, newDepositReferences, timing } = this.#options;
    const actor = rail as string as Actor;
    const depositReferences = newDepositReferences();
    const command = { name: "numberAccount", organizationId, actor, accountId, depositReferences } as const;
    const outcome = await submit(command, toUnixMillis(timing.now() + RESULT_MILLIS_MAX));
    return outcome.kind === "done" && !outcome.replayed;
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
