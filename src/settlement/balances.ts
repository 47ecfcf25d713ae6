import { Loop } from "../../runtime/loop.js";
import type { RailAccountId } from "../domain/payment.js";
import type { WatchRailAccount } from "../domain/rails/change-rail-accounts.js";
import type { Actor } from "../domain/values/actor.js";
import { toUnixMillis } from "../domain/values/time.js";
import type { RailBalance } from "../rails/rail.js";
import type { RailFaults } from "./faults.js";
import { BALANCE_MILLIS, CALL_MILLIS_MAX, NEW_ACCOUNT_MILLIS, RESULT_MILLIS_MAX } from "./limits.js";
import type { Payments } from "./ports/payments.js";
import type { RailAccount, UsableAccounts } from "./ports/rail-accounts.js";
import type { HeldLease, OnEvent, SettlementTiming, SubmitWatch } from "./ports/runtime.js";
import { countOf, tooManyUnknown } from "./unknown-payouts.js";

interface BalancesOptions {
  readonly railAccounts: UsableAccounts;
  readonly payments: Pick<Payments, "unknownPayouts">;
  /**
   * Notes a question before the rail hears it. Resolves with the one that stands: another one if it
   * uses the same credentials, and its answer may still come.
   */
  readonly noteQuestion: (id: RailAccountId, question: string) => Promise<string | undefined>;
  /** Ends a question that the rail has not taken: no answer will come. */
  readonly endQuestion: (id: RailAccountId, question: string) => Promise<unknown>;
  readonly newQuestion: () => string;
  readonly lease: HeldLease;
  readonly faults: RailFaults;
  readonly submit: SubmitWatch;
  readonly timing: SettlementTiming;
  readonly onEvent: OnEvent;
}

/** The revision at which an account was looked at, and when it is due again. */
interface Look {
  readonly revision: number;
  readonly dueAt: number;
}

/**
 * Looks at each rail account once an hour, and soon after it was set, while this server has the
 * lease: the ledger warns of credentials that end, and the rail is asked for the balance. The
 * answer comes as a message.
 */
export class BalanceReader {
  readonly #options: BalancesOptions;
  readonly #loop: Loop;
  #looks = new Map<RailAccountId, Look>();

  constructor(options: BalancesOptions) {
    this.#options = options;
    const step = async (): Promise<number> => {
      await this.#look();
      return NEW_ACCOUNT_MILLIS;
    };
    // A server that has just started does not have the lease yet.
    this.#loop = new Loop({ step, wait: options.timing.wait, delayMillis: CALL_MILLIS_MAX });
  }

  start(): void {
    this.#looks = new Map();
    this.#loop.start();
  }

  stop(): Promise<void> {
    return this.#loop.stop();
  }

  async #look(): Promise<void> {
    const { railAccounts, payments, lease, faults, submit, timing, onEvent } = this.#options;
    for (const account of this.#due(railAccounts.all())) {
      if (this.#loop.isStopped || lease.leftMillis() < CALL_MILLIS_MAX) return;
      const { id, revision } = account;
      this.#looks.set(id, { revision, dueAt: timing.monotonicMillis() + BALANCE_MILLIS });
      try {
        const unknownPayouts = countOf(await tooManyUnknown(payments, account, timing.now()));
        await submit(
          watchOf(account, { unknownPayouts, isQuiet: faults.isQuiet(account) }),
          toUnixMillis(timing.now() + RESULT_MILLIS_MAX),
        );
        await this.#ask(account);
      } catch (error) {
        onEvent({ kind: "error", error });
      }
    }
  }

  #due(accounts: readonly RailAccount[]): readonly RailAccount[] {
    const now = this.#options.timing.monotonicMillis();
    return accounts.filter(({ id, revision }) => {
      const look = this.#looks.get(id);
      return look?.revision !== revision || look.dueAt <= now;
    });
  }

  async #ask(account: RailAccount): Promise<void> {
    const { id, rail } = account;
    const { noteQuestion, endQuestion, newQuestion, onEvent } = this.#options;
    if (rail.payOutAccount === undefined || !this.#options.faults.mayTry(account)) return;
    const question = newQuestion();
    if ((await noteQuestion(id, question)) !== question) {
      // The answer to the other one says whether these credentials are good. Then this one is due.
      this.#looks.delete(id);
      return;
    }
    const deadline = AbortSignal.any([this.#loop.signal, AbortSignal.timeout(CALL_MILLIS_MAX)]);
    const answer = await rail.askBalance(question, deadline);
    if (answer.kind === "unavailable") onEvent({ kind: "no balance", railAccountId: id, code: answer.code });
    if (answer.fault !== undefined) await endQuestion(id, question);
    await this.#options.faults.note(account, answer.fault);
  }
}

/** Makes the command that warns of what was seen of an account, or of nothing. */
export function watchOf(
  { organizationId, rail }: Pick<RailAccount, "organizationId" | "rail">,
  {
    balance,
    ...seen
  }: { readonly balance?: RailBalance; readonly unknownPayouts?: number; readonly isQuiet?: boolean },
): WatchRailAccount {
  const paysOut = balance?.accounts.find(({ name, currency }) => name === rail.payOutAccount && currency === "KES");
  const actor = rail.name as string as Actor;
  const availableCents = paysOut?.availableCents;
  return {
    name: "watchRailAccount",
    organizationId,
    actor,
    rail: rail.name,
    availableCents,
    isProven: balance !== undefined,
    ...seen,
  };
}
