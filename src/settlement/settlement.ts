import { setMaxListeners } from "node:events";

import type { RailAccountId } from "../domain/payment.js";
import type { TransactionId } from "../domain/values/ids.js";
import { Breaker } from "./breaker.js";
import { LedgerLine, type Work } from "./ledger-line.js";
import { BLOCKED_MILLIS, BUSY_MILLIS, CALLS_MAX, LOOP_MILLIS, MESSAGES_MAX } from "./limits.js";
import { Looks } from "./looks.js";
import { Messages } from "./messages.js";
import type { InboxMessage, RailInbox } from "./ports/inbox.js";
import type { Payments } from "./ports/payments.js";
import type { RailAccount, RailAccounts } from "./ports/rail-accounts.js";
import type { HeldLease, OnEvent, Submit, Timing } from "./ports/runtime.js";
import { RailCalls } from "./rail-calls.js";
import { UnderWay } from "./under-way.js";

export interface SettlementOptions {
  readonly payments: Payments;
  readonly inbox: RailInbox;
  readonly railAccounts: RailAccounts;
  readonly lease: HeldLease;
  readonly submit: Submit;
  readonly newTransactionId: () => TransactionId;
  readonly timing: Timing;
  readonly onEvent: OnEvent;
}

/**
 * Moves the payments of one cell over their rails, and applies what the rails say. The server that
 * has the lease does it. Nothing depends on the lease: the ledger grants each begin once, and every
 * other command can be submitted twice (docs/adr/0039).
 */
export class Settlement {
  readonly #options: SettlementOptions;
  readonly #calls: RailCalls;
  readonly #looks: Looks;
  readonly #messages: Messages;
  readonly #breaker: Breaker;
  readonly #stopped = new AbortController();
  readonly #payments: UnderWay<TransactionId>;
  readonly #inbox: UnderWay<number>;
  /** The looks at one rail account that run, each with at most one call at a time. */
  readonly #busy = new Map<RailAccountId, number>();
  readonly #missing = new Set<RailAccountId>();
  #wake = new AbortController();
  #loop: Promise<void> | undefined;

  constructor(options: SettlementOptions) {
    const { timing, submit, newTransactionId, onEvent } = options;
    this.#options = options;
    // Each answer that waits to be stored again listens to it.
    setMaxListeners(Infinity, this.#stopped.signal);
    this.#calls = new RailCalls(options);
    const line = new LedgerLine({ submit, timing, newTransactionId, stopped: this.#stopped.signal, onEvent });
    const parts = { ...options, line, calls: this.#calls };
    this.#looks = new Looks(parts);
    this.#messages = new Messages(parts);
    this.#breaker = new Breaker(options);
    this.#payments = new UnderWay(timing.monotonicMillis);
    this.#inbox = new UnderWay(timing.monotonicMillis);
  }

  start(): void {
    this.#loop ??= this.#run();
  }

  /** Looks for work at once. */
  poke(): void {
    this.#wake.abort();
  }

  /**
   * Begins nothing more. Waits for the calls under way, and ends those that take longer: then
   * another server finds their payments SENDING.
   */
  async stop(graceMillis: number): Promise<void> {
    this.#calls.close();
    this.#stopped.abort();
    this.poke();
    await this.#loop;
    const idle = new AbortController();
    const settled = Promise.all([this.#payments.idle(), this.#inbox.idle()]).finally(() => {
      idle.abort();
    });
    await this.#options.timing.wait(graceMillis, idle.signal);
    this.#calls.abort();
    await settled;
  }

  async #run(): Promise<void> {
    const { timing } = this.#options;
    while (!this.#stopped.signal.aborted) {
      // A poke during the look makes the wait end at once.
      this.#wake = new AbortController();
      await this.#lookForWork().catch(this.#onError);
      await timing.wait(LOOP_MILLIS, this.#wake.signal);
    }
  }

  async #lookForWork(): Promise<void> {
    if (!this.#calls.mayStart) return;
    const { payments, inbox, timing } = this.#options;
    const limit = MESSAGES_MAX + this.#inbox.size;
    for (const message of await inbox.due({ now: timing.now(), limit })) {
      if (!this.#inbox.has(message.id)) this.#inbox.run(message.id, () => this.#apply(message), this.#onError);
    }
    for (const id of await payments.accountsWithDue(timing.now())) await this.#lookAtAccount(id);
  }

  /** Starts as many looks at payments of the rail account as it has room for. */
  async #lookAtAccount(id: RailAccountId): Promise<void> {
    const { payments, timing } = this.#options;
    const account = this.#accountOf(id);
    if (account === undefined || this.#freeOf(id) === 0) return;
    const beginsPayouts = await this.#breaker.beginsPayouts(account);
    // Payments that rest or run are due still, and must not hide the others.
    const limit = CALLS_MAX + this.#payments.size;
    const due = await payments.due(id, { now: timing.now(), limit, beginsPayouts });
    for (const payment of due) {
      const { transactionId } = payment;
      if (this.#freeOf(id) === 0) return;
      if (this.#payments.has(transactionId)) continue;
      const work: Work = { payment, account };
      this.#payments.run(transactionId, () => this.#inRoomOf(id, () => this.#looks.look(work)), this.#onError);
    }
  }

  async #apply(message: InboxMessage): Promise<boolean> {
    const payment = await this.#options.payments.payment(message.transactionId);
    if (payment === undefined) return this.#messages.drop(message, "no payment");
    const account = this.#accountOf(payment.railAccountId);
    if (account === undefined) await this.#messages.postpone(message, BLOCKED_MILLIS);
    else if (this.#freeOf(account.id) === 0) await this.#messages.postpone(message, BUSY_MILLIS);
    else return this.#inRoomOf(account.id, () => this.#messages.apply(message, { payment, account }));
    return true;
  }

  #accountOf(id: RailAccountId): RailAccount | undefined {
    const { railAccounts, onEvent } = this.#options;
    const account = railAccounts.account(id);
    if (account !== undefined) this.#missing.delete(id);
    else if (!this.#missing.has(id)) {
      this.#missing.add(id);
      onEvent({ kind: "no rail account", railAccountId: id });
    }
    return account;
  }

  #freeOf(id: RailAccountId): number {
    return Math.max(0, CALLS_MAX - (this.#busy.get(id) ?? 0));
  }

  async #inRoomOf<Result>(id: RailAccountId, work: () => Promise<Result>): Promise<Result> {
    this.#busy.set(id, (this.#busy.get(id) ?? 0) + 1);
    try {
      return await work();
    } finally {
      this.#busy.set(id, (this.#busy.get(id) ?? 0) - 1);
    }
  }

  readonly #onError = (error: unknown): void => {
    this.#options.onEvent({ kind: "error", error });
  };
}
