import { randomUUID } from "node:crypto";

import type { OpenPayment, RailOrder, ReturnablePayment } from "../rails/order.js";
import type { PaymentRail, RailReport, Sent } from "../rails/rail.js";
import { CALL_MILLIS_MAX, LEASE_LEFT_MILLIS_MIN } from "./limits.js";
import type { Payments } from "./ports/payments.js";
import type { HeldLease, OnEvent, SettlementTiming } from "./ports/runtime.js";

interface RailCallsOptions {
  readonly lease: HeldLease;
  readonly timing: SettlementTiming;
  readonly onEvent: OnEvent;
}

/** Calls rails. Each call has a deadline, and starts only while the lease outlasts it. */
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

  /** Undefined if the rail was not called. */
  send(rail: PaymentRail, order: RailOrder): Promise<Sent | undefined> {
    return this.#call<Sent>((signal) => rail.send(order, signal), { kind: "unknown", code: "NO_ANSWER" });
  }

  /** Undefined if the rail was not called. */
  query(
    rail: PaymentRail,
    payment: OpenPayment,
    questions: Pick<Payments, "noteQuestion">,
  ): Promise<RailReport | undefined> {
    const newQuestion = async (): Promise<string> => {
      const question = randomUUID();
      await questions.noteQuestion(payment.transactionId, question);
      return question;
    };
    const unanswered = { kind: "open", code: "NO_ANSWER" } as const;
    return this.#call<RailReport>((signal) => rail.query(payment, signal, newQuestion), unanswered);
  }

  /** Undefined if the rail was not called, or cannot return a payment. */
  async returnPayment(rail: PaymentRail, payment: ReturnablePayment): Promise<Sent | undefined> {
    const unanswered = { kind: "unknown", code: "NO_ANSWER" } as const;
    return this.#call<Sent | undefined>(async (signal) => rail.returnPayment?.(payment, signal), unanswered);
  }

  /** Returns `unknown` if there is no answer in time, whatever the rail makes of the signal. */
  async #call<Answer>(ask: (signal: AbortSignal) => Promise<Answer>, unknown: Answer): Promise<Answer | undefined> {
    const { timing, onEvent } = this.#options;
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
      return await Promise.race([ask(call.signal), aborted]);
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
