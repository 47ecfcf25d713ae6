import { setMaxListeners } from "node:events";

import { Loop } from "../../runtime/loop.js";
import type { RailAccountId } from "../domain/payment.js";
import type { TransactionId } from "../domain/values/ids.js";
import { Breaker, type Stopped } from "./breaker.js";
import { CallSlots } from "./call-slots.js";
import { Evidence } from "./evidence.js";
import type { RailFaults } from "./faults.js";
import { SettlementLine, type Work } from "./ledger-line.js";
import {
  BLOCKED_MILLIS,
  BUSY_MILLIS,
  CALLS_MAX,
  LOOP_MILLIS,
  MESSAGES_MAX,
  MESSAGES_WAITING_MAX,
  RESTS_PER_LOOK,
} from "./limits.js";
import { Messages } from "./messages.js";
import { PaymentPoller } from "./payment-poller.js";
import type { InboxMessage, RailInbox } from "./ports/inbox.js";
import type { Payments } from "./ports/payments.js";
import type { ClosePayouts, RailAccount, SettledAccounts } from "./ports/rail-accounts.js";
import type { SubmitWatch } from "./ports/runtime.js";
import type { HeldLease, OnEvent, SettlementTiming, Submit } from "./ports/runtime.js";
import { RailCalls } from "./rail-calls.js";
import { UnderWay } from "./under-way.js";

export interface SettlementOptions {
  readonly payments: Payments;
  readonly inbox: RailInbox;
  readonly railAccounts: SettledAccounts;
  readonly lease: HeldLease;
  readonly faults: RailFaults;
  readonly submit: Submit;
  readonly submitWatch: SubmitWatch;
  readonly newTransactionId: () => TransactionId;
  readonly timing: SettlementTiming;
  readonly onEvent: OnEvent;
  readonly closePayouts: ClosePayouts;
}

/**
 * Moves the payments of one cell over their rails, and applies what the rails say. The server that
 * has the lease does it. Nothing depends on the lease: the ledger grants each begin once, and every
 * other command can be submitted twice (docs/adr/0039).
 */
export class Settlement {
  readonly #options: SettlementOptions;
  readonly #calls: RailCalls;
  readonly #poller: PaymentPoller;
  readonly #messages: Messages;
  readonly #breaker: Breaker;
  readonly #loop: Loop;
  readonly #payments: UnderWay<TransactionId>;
  readonly #inbox: UnderWay<number>;
  readonly #slots = new CallSlots<RailAccountId>(() => {
    this.wake();
  });
  readonly #missing = new Set<RailAccountId>();

  constructor(options: SettlementOptions) {
    const { timing, submit, newTransactionId, onEvent } = options;
    this.#options = options;
    this.#loop = new Loop({ step: () => this.#step(), wait: timing.wait });
    const { signal: stopped } = this.#loop;
    // Each answer that waits to be stored again listens to it.
    setMaxListeners(Infinity, stopped);
    this.#calls = new RailCalls(options);
    const evidence = new Evidence(options);
    const line = new SettlementLine({ submit, evidence, timing, newTransactionId, stopped, onEvent });
    const parts = { ...options, line, evidence, calls: this.#calls };
    this.#poller = new PaymentPoller(parts);
    this.#messages = new Messages(parts);
    this.#breaker = new Breaker(parts);
    this.#payments = new UnderWay(timing.monotonicMillis);
    this.#inbox = new UnderWay(timing.monotonicMillis);
  }

  /** What the breaker holds back. */
  get payoutsStopped(): Stopped {
    return this.#breaker.stopped;
  }

  start(): void {
    this.#loop.start();
  }

  /** Looks for work at once. */
  wake(): void {
    this.#loop.wake();
  }

  /**
   * Begins nothing more. Waits for the calls under way, and ends those that take longer: then
   * another server finds their payments SENDING.
   */
  async stop(graceMillis: number): Promise<void> {
    this.#calls.close();
    await this.#loop.stop();
    const idle = new AbortController();
    const settled = Promise.all([this.#payments.idle(), this.#inbox.idle()]).finally(() => {
      idle.abort();
    });
    await this.#options.timing.wait(graceMillis, idle.signal);
    this.#calls.abort();
    await settled;
  }

  async #step(): Promise<number> {
    const { timing } = this.#options;
    const from = timing.monotonicMillis();
    await this.#lookForWork().catch(this.#onError);
    const rest = Math.min((timing.monotonicMillis() - from) * RESTS_PER_LOOK, LOOP_MILLIS);
    // Calls of `wake` without end must not make the looks take all of the database's time.
    if (rest > 0) await timing.wait(rest, this.#loop.signal);
    return LOOP_MILLIS;
  }

  async #lookForWork(): Promise<void> {
    if (!this.#calls.mayStart) return;
    const { payments, inbox, timing } = this.#options;
    const limit = MESSAGES_MAX + this.#inbox.size;
    for (const message of await inbox.due({ now: timing.now(), limit })) {
      if (!this.#inbox.has(message.id)) this.#inbox.run(message.id, () => this.#apply(message), this.#onError);
    }
    const ids = new Set([...(await payments.accountsWithDue(timing.now())), ...this.#breaker.holding]);
    for (const id of ids) await this.#lookAtAccount(id);
  }

  /** Starts as many looks at payments of the rail account as it has free slots. */
  async #lookAtAccount(id: RailAccountId): Promise<void> {
    const { payments, timing } = this.#options;
    const account = this.#accountOf(id);
    if (account === undefined || this.#slots.freeOf(id) === 0) return;
    const payOutTo = this.#options.faults.blocks(account, "REDEEM") ? [] : await this.#breaker.payOutTo(account);
    // Payments that rest or run are due still, and must not hide the others. One more than there
    // are slots tells that somebody waits.
    const limit = CALLS_MAX + 1 + this.#payments.size;
    for (const payment of await payments.due(id, { now: timing.now(), limit, payOutTo })) {
      const { transactionId } = payment;
      if (this.#payments.has(transactionId)) continue;
      if (this.#slots.freeOf(id) === 0) return;
      const work: Work = { payment, account };
      this.#payments.run(transactionId, () => this.#slots.in(id, () => this.#poller.poll(work)), this.#onError);
    }
  }

  async #apply(message: InboxMessage): Promise<boolean> {
    const { payments } = this.#options;
    const payment = await payments.payment(message.transactionId);
    if (payment === undefined) return this.#messages.drop(message, "no payment");
    const account = this.#accountOf(payment.railAccountId);
    if (account === undefined) await this.#messages.postpone(message, BLOCKED_MILLIS);
    else if (this.#slots.waitingOf(account.id) >= MESSAGES_WAITING_MAX) {
      await this.#messages.postpone(message, BUSY_MILLIS);
    } else {
      const waits = this.#slots.freeOf(account.id) === 0;
      return this.#slots.in(account.id, async () => {
        // While the message waited in line, the payment may have gone on.
        const current = waits ? await payments.payment(message.transactionId) : undefined;
        return this.#messages.apply(message, { payment: current ?? payment, account });
      });
    }
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

  readonly #onError = (error: unknown): void => {
    this.#options.onEvent({ kind: "error", error });
  };
}
