import { isTurnedAwayTooLong } from "../domain/payment.js";
import type { HeldReason } from "../domain/rail-account.js";
import { toUnixMillis } from "../domain/values/time.js";
import type { RailOrder } from "../rails/order.js";
import type { Sent } from "../rails/rail.js";
import { sentAgain } from "../rails/rail.js";
import { storedCode, type ToldCode } from "../rails/told-code.js";
import type { Evidence } from "./evidence.js";
import type { RailFaults } from "./faults.js";
import type { FinalReport, SettlementLine, Work } from "./ledger-line.js";
import { isProof } from "./ledger-line.js";
import { BLOCKED_MILLIS, FLAGGED_CHECK_MILLIS, GRANT_MILLIS_MAX } from "./limits.js";
import type { RailInbox } from "./ports/inbox.js";
import type { Payments } from "./ports/payments.js";
import type { SettledAccounts } from "./ports/rail-accounts.js";
import type { OnEvent, SettlementTiming } from "./ports/runtime.js";
import type { RailCalls } from "./rail-calls.js";
import {
  checkMillis,
  isExpired,
  isUnknownTooLong,
  laterUnlessItExpires,
  maySendAgain,
  openPaymentOf,
  orderOf,
  unreachedMillis,
} from "./schedule.js";

interface PaymentPollerOptions {
  readonly payments: Payments;
  readonly inbox: RailInbox;
  readonly line: SettlementLine;
  readonly evidence: Evidence;
  readonly calls: RailCalls;
  readonly faults: RailFaults;
  readonly railAccounts: SettledAccounts;
  readonly timing: SettlementTiming;
  readonly onEvent: OnEvent;
}

/** The code of a payment that waits for a person to set the account again. */
const CREDENTIALS_REFUSED: HeldReason = "CREDENTIALS_REFUSED";

/** Why an order was not sent. */
type NotSent =
  | { readonly kind: "refused"; readonly code: string }
  /** Somebody may have sent it, or nobody. */
  | { readonly kind: "stopped" }
  /** The ledger allowed it, and nobody has called the rail. */
  | { readonly kind: "not called" };

/**
 * Looks at one payment that is due, and takes its next step. Resolves with false if nothing was
 * stored about it: then it is due still, and rests for a moment.
 *
 * The rail is asked only after `beginPayment` is on disk, and only by the server that it was
 * granted to. A server that finds a payment SENDING does not know whether the rail has the order.
 */
export class PaymentPoller {
  readonly #options: PaymentPollerOptions;

  constructor(options: PaymentPollerOptions) {
    this.#options = options;
  }

  async poll(work: Work): Promise<boolean> {
    switch (work.payment.state) {
      case "READY":
        return this.#pollReady(work);
      case "SENDING":
      case "ACCEPTED":
        return this.#pollOpen(work);
      case "ENDED":
        return true;
    }
  }

  async #pollReady(work: Work): Promise<boolean> {
    const { line, evidence, timing } = this.#options;
    const { payment, account } = work;
    // An earlier request seemed not to have arrived.
    if (payment.sends > 0 && (await evidence.hasOrder(work))) return this.#acceptUnasked(work);
    // In the end only a person finds out. Until then the rail is asked whether it has the payout.
    if (isTurnedAwayTooLong(payment, timing.now())) return this.#pollOpen(work, true);
    if (!isExpired(payment, account, timing.now())) {
      // An order of the sandbox stays PENDING, so that a caller can try a cancellation.
      return account.rail.isHeld?.(payment) === true ? this.#postpone(work, "HELD") : this.#begin(work);
    }
    const expired = await line.expire(work);
    if (expired.kind === "undecided") return false;
    if (expired.kind === "refused") return this.#block(work, expired.code);
    // A message says that it was paid. A person finds out, or the caller cancels it.
    if (expired.transaction.status !== "FAILED") await this.#reschedule(work, FLAGGED_CHECK_MILLIS, "REPORT_DIFFERS");
    return true;
  }

  async #begin(work: Work): Promise<boolean> {
    const { line, calls } = this.#options;
    const { payment } = work;
    const order = orderOf(payment);
    if (order === undefined) return this.#block(work, "ROW_CHANGED");
    if (this.#isRefused(work)) return this.#postpone(work, CREDENTIALS_REFUSED);
    if (!calls.mayStart) return false;
    const sent = await this.#sendIfGranted(work, order, false);
    if (sent.kind === "refused") return this.#block(work, sent.code);
    if (sent.kind === "stopped") return false;
    await this.#options.payments.forgetHeld(payment);
    const sends = payment.sends + 1;
    if (sent.kind === "not called") {
      // The lease or this server ended before the call, so this request proves nothing was sent.
      await line.postpone(work, { sends, isTurnedAway: false }, this.#after(0));
      return true;
    }
    await this.#takeAnswer(work, sends === 1 || sent.kind !== "rejected" ? sent : sentAgain(sent), sends);
    return true;
  }

  /** Asks the ledger, and then the rail. The only place that sends an order. */
  async #sendIfGranted(work: Work, order: RailOrder, isAgain: boolean): Promise<Sent | NotSent> {
    const { line, calls, railAccounts, timing } = this.#options;
    const { account } = work;
    const grantEndsAt = this.#after(GRANT_MILLIS_MAX);
    const begun = await line.begin(work, this.#after(checkMillis(account.rail, 0)), isAgain);
    if (begun.kind === "refused" && begun.code === "RAIL_ACCOUNT_CHANGED") {
      // The next look takes the account as it is now, if it can be used.
      await railAccounts.refresh();
      return { kind: "stopped" };
    }
    if (begun.kind === "refused") return begun;
    // Anything but a fresh grant may mean that another server asks the rail, or has asked.
    if (begun.kind === "undecided" || begun.replayed) return { kind: "stopped" };
    // This server stood still, so another one may have asked the rail in the meantime.
    if (timing.now() >= grantEndsAt) return { kind: "stopped" };
    const sent = await calls.send(account, order);
    if (sent === undefined) return { kind: "not called" };
    this.#noteSent(work, sent);
    return sent;
  }

  /** Stores what the answer to a request proves. An unknown one leaves the payment SENDING. */
  async #takeAnswer(work: Work, sent: Sent, sends: number): Promise<void> {
    const { line, payments } = this.#options;
    const { payment, account } = work;
    switch (sent.kind) {
      case "accepted":
        await line.accept(work, sent.railReference, this.#after(checkMillis(account.rail, 0)));
        await this.#deliver(work);
        return;
      case "rejected":
        await line.reject(work, sends, sent);
        return;
      case "unreached": {
        // Only a proof leaves an order unsent that nobody may send twice.
        if (sent.isTurnedAway === true && payment.numberKind !== "PHONE") {
          return this.#takeAnswer(work, { kind: "unknown", code: sent.code }, sends);
        }
        const millis = unreachedMillis(sent.retryAfterMillis, sends);
        const now = this.#options.timing.now();
        const request = { sends, isTurnedAway: sent.isTurnedAway === true };
        await line.postpone(work, request, laterUnlessItExpires(payment, account, { now, millis }));
        return;
      }
      case "unknown": {
        const dueAt = this.#after(checkMillis(account.rail, 0));
        const code = storedCode(sent);
        await payments.reschedule({ ...payment, state: "SENDING" }, { dueAt, checks: payment.checks, code });
        await this.#deliver(work);
      }
    }
  }

  /** Asks for the outcome of an order that the rail has, or may have. */
  async #pollOpen(work: Work, isUnclear = false): Promise<boolean> {
    const { calls, payments } = this.#options;
    const { payment, account } = work;
    await this.#deliver(work);
    if (this.#isRefused(work)) return this.#waitForCredentials(work);
    const report = await calls.query(account, openPaymentOf(payment), payments);
    if (report === undefined) return false;
    if (report.kind === "open") return this.#lookAtUnknown(work, report, isUnclear || report.isUnclear);
    if (report.kind === "succeeded" && !isProof(report)) return this.#lookAtUnknown(work, { code: "NO_PROOF" });
    return this.#end(work, report);
  }

  /** The query found nothing out. */
  async #lookAtUnknown(work: Work, told: ToldCode, isUnclear = false): Promise<boolean> {
    const { line, evidence, timing } = this.#options;
    const { payment, account } = work;
    const order = orderOf(payment);
    if (payment.state === "SENDING" && (await evidence.hasOrder(work))) return this.#acceptUnasked(work);
    // Nothing may take time between this look at the clock and the grant.
    if (payment.state !== "SENDING" || order === undefined || !maySendAgain(payment, timing.now())) {
      return this.#waitOn(work, told, isUnclear);
    }
    const answer = await this.#sendIfGranted(work, order, true);
    if (answer.kind === "stopped" || answer.kind === "not called") return false;
    if (answer.kind === "refused") return this.#waitOn(work, { code: answer.code });
    const sent = sentAgain(answer);
    if (sent.kind !== "accepted") return this.#waitOn(work, sent);
    const accepted = await line.accept(work, sent.railReference, this.#after(checkMillis(account.rail, 0)));
    return accepted.kind === "done";
  }

  /** The rail has sent something about the order, so it has it: the order is never sent again. */
  async #acceptUnasked(work: Work): Promise<boolean> {
    const { payment, account } = work;
    const nextCheckAt = this.#after(checkMillis(account.rail, payment.checks + 1));
    const accepted = await this.#options.line.accept(work, undefined, nextCheckAt);
    return accepted.kind === "done";
  }

  /** Stores how the order ended. If the ledger has flagged the report, the order stays open. */
  async #end(work: Work, report: FinalReport): Promise<boolean> {
    const ended = await this.#options.line.end(work, report);
    if (ended.kind === "undecided") return false;
    if (ended.kind === "refused") return this.#block(work, ended.code);
    if (ended.transaction.status !== "PROCESSING") return true;
    await this.#reschedule(work, FLAGGED_CHECK_MILLIS, "REPORT_DIFFERS");
    return true;
  }

  async #waitOn(work: Work, told: ToldCode, isUnclear = false): Promise<boolean> {
    const { line, timing, onEvent } = this.#options;
    const { payment, account } = work;
    const isTooLong = isUnknownTooLong(payment, timing.now());
    if ((isTooLong || isUnclear) && !payment.isFlagged) {
      const flagged = await line.flagUnknown(work, told);
      if (flagged.kind === "undecided") return false;
      if (flagged.kind === "done" && !flagged.replayed && account.rail.isSandbox !== true) {
        onEvent({ kind: "outcome unknown", transactionId: payment.transactionId });
      }
    }
    await this.#reschedule(
      work,
      isTooLong ? FLAGGED_CHECK_MILLIS : checkMillis(account.rail, payment.checks + 1),
      storedCode(told),
    );
    return true;
  }

  /** Nobody may ask the rail. A person looks at the order after the same time as at any other. */
  async #waitForCredentials(work: Work): Promise<boolean> {
    const { line, timing } = this.#options;
    const { payment } = work;
    if (isUnknownTooLong(payment, timing.now()) && !payment.isFlagged) {
      const flagged = await line.flagUnknown(work, CREDENTIALS_REFUSED);
      if (flagged.kind === "undecided") return false;
    }
    return this.#postpone(work, CREDENTIALS_REFUSED);
  }

  /** Whether the rail has refused the credential that this order needs. */
  #isRefused({ payment: { direction }, account }: Work): boolean {
    return this.#options.faults.blocks(account, direction);
  }

  #block(work: Work, code: string): Promise<boolean> {
    this.#options.onEvent({ kind: "blocked", transactionId: work.payment.transactionId, code });
    return this.#postpone(work, code);
  }

  async #postpone({ payment, account }: Work, code: string): Promise<boolean> {
    const { payments, timing } = this.#options;
    const dueAt = laterUnlessItExpires(payment, account, { now: timing.now(), millis: BLOCKED_MILLIS });
    await payments.reschedule(payment, { dueAt, checks: payment.checks, code });
    return true;
  }

  async #reschedule({ payment }: Work, millis: number, code: string): Promise<void> {
    const { payments } = this.#options;
    await payments.reschedule(payment, { dueAt: this.#after(millis), checks: payment.checks + 1, code });
  }

  /** Puts the messages into the inbox that a sandbox does not send by itself. */
  async #deliver({ payment: read, account: { rail } }: Work): Promise<void> {
    const { inbox, payments } = this.#options;
    if (rail.messagesOf === undefined) return;
    // The time of the request, which the messages follow, may be newer than what was read.
    const payment = await payments.payment(read.transactionId);
    if (payment === undefined) return;
    const { transactionId } = payment;
    for (const { purpose, body, at } of rail.messagesOf(openPaymentOf(payment))) {
      await inbox.add({ transactionId, purpose, body }, at);
    }
  }

  #noteSent({ payment: { transactionId, railAccountId } }: Work, sent: Sent): void {
    const code = sent.kind === "accepted" ? undefined : sent.code;
    this.#options.onEvent({ kind: "sent", transactionId, railAccountId, result: sent.kind, code });
  }

  #after(millis: number): ReturnType<SettlementTiming["now"]> {
    return toUnixMillis(this.#options.timing.now() + millis);
  }
}
