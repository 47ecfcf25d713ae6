import { randomUUID } from "node:crypto";

import type { OpenPayment, RailOrder, ReturnablePayment } from "../rails/order.js";
import type { Faulty, RailReport, Sent } from "../rails/rail.js";
import type { RailFaults } from "./faults.js";
import { CALL_MILLIS_MAX, LEASE_LEFT_MILLIS_MIN } from "./limits.js";
import type { Payments } from "./ports/payments.js";
import type { RailAccount } from "./ports/rail-accounts.js";
import type { HeldLease, OnEvent, SettlementTiming } from "./ports/runtime.js";

interface RailCallsOptions {
  readonly faults: RailFaults;
  readonly lease: HeldLease;
  readonly timing: SettlementTiming;
  readonly onEvent: OnEvent;
}

/**
 * Calls rails. Each call has a deadline, and starts only while the lease outlasts it. What an
 * answer tells of a fault is noted before the answer is returned.
 */
export class RailCalls {
  readonly #options: RailCallsOptions;
  /** One for each call under way. */
  readonly #calls = new Set<AbortController>();
  #isClosed = false;

  constructor(options: RailCallsOptions) {
    this.#options = options;
  }

  /** Whether a call may start now. */
  get mayStart(): boolean {
    return !this.#isClosed && this.#options.lease.leftMillis() >= LEASE_LEFT_MILLIS_MIN;
  }

  /** Starts no call from now on. */
  close(): void {
    this.#isClosed = true;
  }

  /** Ends the calls under way: what they did is unknown. */
  abort(): void {
    for (const call of this.#calls) call.abort();
  }

  /** Undefined if the rail was not called: also if it has refused the credential meanwhile. */
  async send(account: RailAccount, order: RailOrder): Promise<Sent | undefined> {
    if (this.#options.faults.blocks(account, order.direction)) return undefined;
    const unanswered = { kind: "unknown", code: "NO_ANSWER" } as const;
    return this.#call<Sent>(account, (signal) => account.rail.send(order, signal), unanswered);
  }

  /** Undefined if the rail was not called, as above. */
  async query(
    account: RailAccount,
    payment: OpenPayment,
    questions: Pick<Payments, "noteQuestion">,
  ): Promise<RailReport | undefined> {
    if (this.#options.faults.blocks(account, payment.direction)) return undefined;
    const newQuestion = async (): Promise<string> => {
      const question = randomUUID();
      await questions.noteQuestion(payment.transactionId, question);
      return question;
    };
    const unanswered = { kind: "open", code: "NO_ANSWER" } as const;
    const ask = (signal: AbortSignal): Promise<RailReport> => account.rail.query(payment, signal, newQuestion);
    return this.#call<RailReport>(account, ask, unanswered);
  }

  /** Undefined if the rail was not called, or cannot return a payment. */
  returnPayment(account: RailAccount, payment: ReturnablePayment): Promise<Sent | undefined> {
    const unanswered = { kind: "unknown", code: "NO_ANSWER" } as const;
    const ask = async (signal: AbortSignal): Promise<Sent | undefined> => account.rail.returnPayment?.(payment, signal);
    return this.#call<Sent | undefined>(account, ask, unanswered);
  }

  /** Returns `unknown` if there is no answer in time, whatever the rail makes of the signal. */
  async #call<Answer extends Faulty | undefined>(
    account: RailAccount,
    ask: (signal: AbortSignal) => Promise<Answer>,
    unknown: Answer,
  ): Promise<Answer | undefined> {
    const { timing, faults, onEvent } = this.#options;
    if (!this.mayStart) return undefined;
    const call = new AbortController();
    const answered = new AbortController();
    const aborted = new Promise<Answer>((resolve) => {
      call.signal.addEventListener("abort", () => {
        resolve(unknown);
      });
    });
    this.#calls.add(call);
    void timing.wait(CALL_MILLIS_MAX, answered.signal).then(() => {
      call.abort();
    });
    try {
      const answer = await Promise.race([ask(call.signal), aborted]);
      await faults.note(account, answer?.fault);
      return answer;
    } catch (error) {
      // A rail never rejects. One that does has proven nothing.
      onEvent({ kind: "error", error });
      return unknown;
    } finally {
      this.#calls.delete(call);
      answered.abort();
    }
  }
}
