import { shownNumber } from "../domain/destination.js";
import { UNCONFIRMED } from "../domain/payment.js";
import { formatCents } from "../domain/values/cents.js";
import { toUnixMillis, type UnixMillis } from "../domain/values/time.js";
import type { RailReport } from "../rails/rail.js";
import { storedCode, wordsOf } from "../rails/told-code.js";
import type { Evidence } from "./evidence.js";
import type { RailFaults } from "./faults.js";
import type { FinalReport, SettlementLine, Work } from "./ledger-line.js";
import { isProof } from "./ledger-line.js";
import {
  BLOCKED_MILLIS,
  CHANGED_MILLIS_MIN,
  MESSAGE_WAITS_MILLIS,
  STATUS_LATE_MILLIS_MAX,
  UNCONFIRMED_TRIES,
} from "./limits.js";
import type { InboxMessage, RailInbox } from "./ports/inbox.js";
import type { Payments, StoredPayment } from "./ports/payments.js";
import type { ClosePayouts } from "./ports/rail-accounts.js";
import type { OnEvent, SettlementEvent, SettlementTiming } from "./ports/runtime.js";
import type { RailCalls } from "./rail-calls.js";
import { openPaymentOf } from "./schedule.js";

interface MessagesOptions {
  readonly payments: Pick<Payments, "reschedule" | "noteQuestion">;
  readonly inbox: RailInbox;
  readonly line: SettlementLine;
  readonly evidence: Evidence;
  readonly calls: RailCalls;
  readonly faults: RailFaults;
  readonly timing: SettlementTiming;
  readonly onEvent: OnEvent;
  readonly closePayouts: ClosePayouts;
}

type Why = Extract<SettlementEvent, { kind: "message dropped" }>["why"];
type Succeeded = Extract<RailReport, { kind: "succeeded" }>;

/** What a message is worth. */
type Confirmation =
  /** It is true, or changes nothing: this report goes to the ledger. */
  | { readonly kind: "confirmed"; readonly report: FinalReport }
  | { readonly kind: "unconfirmed" }
  /** The rail says the opposite. */
  | { readonly kind: "denied" }
  /** The rail could not be asked now. */
  | { readonly kind: "later" }
  /** Nobody may ask the rail until a person has set the account again. */
  | { readonly kind: "blocked" };

/**
 * Applies the messages of rails. Anybody who learns the address of a callback can send one, so it
 * is a hint. It goes to the ledger when the rail confirms it. The answer to a status query is no
 * hint: its address was given with the question that stands, and counts once.
 *
 * A message is settled only after the ledger has decided its command. Resolves with false if it
 * must be looked at again soon.
 */
export class Messages {
  readonly #options: MessagesOptions;

  constructor(options: MessagesOptions) {
    this.#options = options;
  }

  async apply(message: InboxMessage, work: Work): Promise<boolean> {
    const report = work.account.rail.read(message, openPaymentOf(work.payment));
    if (report === undefined) return this.drop(message, "unreadable");
    if (isOfAccountAsItIs(message, work, this.#options.timing.now())) {
      await this.#options.faults.note(work.account, report.fault);
    }
    if (report.kind === "open") {
      await this.#closeIfLocked(report.code, work);
      if (!(await this.#noteCode(report, { message, work }))) return false;
      return this.drop(message, "open");
    }
    if (report.kind === "succeeded" && !isProof(report)) return this.drop(message, "unreadable");
    // Another prompt of the order may have been paid. Its failure says nothing about this one.
    if (report.kind === "failed" && !isOfThisRequest(report, work.payment)) return this.drop(message, "another order");
    const confirmation = await this.#confirmation(message, report, work);
    if (confirmation.kind === "later") return false;
    if (confirmation.kind === "blocked") return this.#waitForCredentials(message, report, work);
    if (confirmation.kind !== "confirmed") {
      const isContradicted = await this.#isContradicted(
        { message, report, isDenied: confirmation.kind === "denied" },
        work,
      );
      return this.#waitFor({ message, report, isContradicted }, work);
    }
    const told = await this.#options.line.end(work, confirmation.report);
    if (told.kind === "undecided") return false;
    if (confirmation.report.kind !== report.kind) return this.drop(message, "contradicted");
    await this.#options.inbox.settle(message.id);
    return true;
  }

  /** Whether the rail says one thing, and its message the other. */
  async #isContradicted(
    { message, report, isDenied }: { message: InboxMessage; report: FinalReport; isDenied: boolean },
    work: Work,
  ): Promise<boolean> {
    if (report.kind === "failed") return this.#options.evidence.says("succeeded", work);
    // The answer to a status query takes some seconds. After the second try, the message says
    // nothing new to the person who has looked at the order.
    if (work.payment.status === "FAILED") return message.tries === 1 || (isDenied && message.tries === 0);
    return isDenied || this.#options.evidence.says("failed", work);
  }

  /**
   * Shows what the message says. If nobody is sure what that means, a person looks at it, and the
   * rail is asked at once. The answer to a query is not asked about again.
   */
  async #noteCode(
    { code, place, isUnclear }: Extract<RailReport, { kind: "open" }>,
    { message, work }: { message: InboxMessage; work: Work },
  ): Promise<boolean> {
    const { payments, line, timing } = this.#options;
    const { payment } = work;
    if (payment.state === "ENDED") return true;
    if (isUnclear === true && (await line.flagUnknown(work, { code, place })).kind === "undecided") return false;
    const dueAt = isUnclear === true && message.purpose !== "status" ? timing.now() : payment.dueAt;
    await payments.reschedule(payment, { dueAt, checks: payment.checks, code: storedCode({ code, place }) });
    return true;
  }

  /** Further payouts would be refused as well, and count as further wrong passwords. */
  async #closeIfLocked(code: string, { account }: Work): Promise<void> {
    if (account.rail.lockedCodes?.has(code) !== true || account.payouts === "closed") return;
    await this.#options.closePayouts(account, code);
    this.#options.onEvent({ kind: "payouts closed", railAccountId: account.id, code });
  }

  /** Settles a message that says nothing. */
  async drop({ id, transactionId }: InboxMessage, why: Why): Promise<boolean> {
    const { inbox, onEvent } = this.#options;
    await inbox.settle(id);
    onEvent({ kind: "message dropped", transactionId, why });
    return true;
  }

  async postpone({ id, tries }: InboxMessage, millis: number): Promise<void> {
    const { inbox, timing } = this.#options;
    await inbox.postpone(id, { dueAt: toUnixMillis(timing.now() + millis), tries });
  }

  async #confirmation(message: InboxMessage, report: FinalReport, work: Work): Promise<Confirmation> {
    if (!isHint(message, report, work)) return { kind: "confirmed", report: await this.#withCause(report, work) };
    // The rail would confirm it if it were another order's. An order that was sent once has one.
    if (work.payment.sends <= 1 && !isOfThisRequest(report, work.payment)) return { kind: "unconfirmed" };
    return (await this.#toldBefore(report, work)) ?? this.#ask(report, work);
  }

  /**
   * M-Pesa's status query tells that a payout failed, and not why. A message may tell why. Even if
   * it is forged, it changes no more than the words for a failure that is certain.
   */
  async #withCause(report: FinalReport, { payment, account }: Work): Promise<FinalReport> {
    if (report.kind !== "failed" || report.failure !== "RAIL_REFUSED") return report;
    for (const message of await this.#options.inbox.messages(payment.transactionId)) {
      const said = account.rail.read(message, openPaymentOf(payment));
      if (said?.kind !== "failed" || said.failure === "RAIL_REFUSED" || !isSame(said, report)) continue;
      return { ...report, failure: said.failure, code: said.code, place: said.place };
    }
    return report;
  }

  /** Looks for an answer to a status query that says the same. */
  async #toldBefore(report: FinalReport, { payment, account }: Work): Promise<Confirmation | undefined> {
    const stored = await this.#options.inbox.messages(payment.transactionId);
    for (const message of stored.filter(({ purpose }) => purpose === "status")) {
      const answer = account.rail.read(message, openPaymentOf(payment));
      if (answer?.kind === report.kind && isSame(answer, report)) {
        return { kind: "confirmed", report: merged(answer, report) };
      }
    }
    return undefined;
  }

  /** Asks the rail about the movement that the message names. */
  async #ask(report: FinalReport, { payment, account }: Work): Promise<Confirmation> {
    if (this.#options.faults.blocks(account, payment.direction)) return { kind: "blocked" };
    const asked = openPaymentOf(payment);
    const railReference = report.movement ?? asked.railReference;
    const { calls, payments } = this.#options;
    const answer = await calls.query(account, { ...asked, railReference }, payments);
    if (answer === undefined) return { kind: "later" };
    if (answer.kind === "open" || (answer.kind === "succeeded" && !isProof(answer))) return { kind: "unconfirmed" };
    if (answer.kind === report.kind) return { kind: "confirmed", report: merged(answer, report) };
    // The rail says that it was paid after all. The other way round the payment may come late.
    return answer.kind === "succeeded" ? { kind: "confirmed", report: answer } : { kind: "denied" };
  }

  /**
   * The rail does not confirm the message. A person looks at a contradiction at once, and at a
   * success after the last try.
   */
  async #waitFor(
    { message, report, isContradicted }: { message: InboxMessage; report: FinalReport; isContradicted: boolean },
    work: Work,
  ): Promise<boolean> {
    const { line } = this.#options;
    if (isContradicted && (await line.flagContradiction(work)).kind === "undecided") return false;
    const wait = MESSAGE_WAITS_MILLIS[message.tries];
    // A person has looked at what has failed, or nobody must.
    const isTime = wait === undefined || (message.tries === UNCONFIRMED_TRIES && work.payment.status !== "FAILED");
    if (!isContradicted && isTime && !(await this.#tellUnconfirmed({ message, report }, work))) return false;
    if (wait === undefined) return this.drop(message, "unconfirmed");
    await this.postpone({ ...message, tries: message.tries + 1 }, wait);
    return true;
  }

  /** The rail is not asked. What it has called is told to a person at once, and waits. */
  async #waitForCredentials(message: InboxMessage, report: FinalReport, work: Work): Promise<boolean> {
    const isTold = report.kind === "failed" || work.payment.isFlagged;
    if (!isTold && !(await this.#tellUnconfirmed({ message, report }, work))) return false;
    await this.postpone(message, BLOCKED_MILLIS);
    return true;
  }

  /**
   * Lets a person look at an outcome that the rail has called, and that no query confirms. The
   * words say what to look for in the statement of the rail. False if nothing was stored.
   */
  async #tellUnconfirmed(
    { message, report }: { message: InboxMessage; report: FinalReport },
    work: Work,
  ): Promise<boolean> {
    const { line, payments } = this.#options;
    const { payment } = work;
    if (report.kind === "failed" && payment.state === "ENDED") return true;
    const flagged = await line.flagUnknown(work, unconfirmedWords(report, work, message));
    if (flagged.kind === "undecided") return false;
    if (payment.state === "ENDED") return true;
    // It holds no other payouts back: the rail does its work, and only the answers are missing.
    const code = storedCode({ code: report.kind === "failed" ? report.code : "SUCCEEDED", place: UNCONFIRMED });
    await payments.reschedule(payment, { dueAt: payment.dueAt, checks: payment.checks, code });
    return true;
  }
}

/**
 * Whether what the message says of a credential is about the account as it is: the order was sent
 * since its last change, or the query was asked since.
 */
function isOfAccountAsItIs({ purpose }: InboxMessage, { payment, account }: Work, now: UnixMillis): boolean {
  if (purpose === "status") return now - account.changedAt >= STATUS_LATE_MILLIS_MAX;
  return payment.begunAt !== undefined && payment.begunAt - account.changedAt >= CHANGED_MILLIS_MIN;
}

/** "perhaps paid: 100.00 to +254******149, called at 2026-11-22T10:15:00.000Z with receipt …" */
function unconfirmedWords(report: FinalReport, { payment, account }: Work, { receivedAt }: InboxMessage): string {
  const { amountCents, numberKind, maskedNumber, direction } = payment;
  const preposition = direction === "MINT" ? "from" : "to";
  const at = new Date(receivedAt).toISOString();
  const told = report.kind === "failed" ? `perhaps failed with ${wordsOf(account.rail, report)}` : "perhaps paid";
  const moved = report.kind === "failed" ? amountCents : (report.amountCents ?? amountCents);
  const receipt = report.kind === "failed" || report.receipt === undefined ? "" : `, receipt ${report.receipt}`;
  return (
    `${told}: ${formatCents(moved)} ${preposition} ${shownNumber(numberKind, maskedNumber)}, says the rail at ${at}` +
    `${receipt}. No query confirms it. Look for it in the statement of the rail`
  );
}

/** Whether the message alone moves nothing: neither books money nor releases any. */
function isHint({ purpose }: InboxMessage, report: FinalReport, { payment, account }: Work): boolean {
  if (purpose === "status") return false;
  // The ledger replays or flags a failure of what has ended. It releases nothing.
  if (report.kind === "failed") return payment.state !== "ENDED";
  // The rail has said the opposite before.
  if (payment.status === "FAILED") return true;
  return Math.max(report.amountCents ?? 0, payment.amountCents) > account.confirmAboveCents;
}

function isOfThisRequest({ movement }: FinalReport, { transactionId, railReference }: StoredPayment): boolean {
  return movement === undefined || movement === transactionId || (railReference ?? movement) === movement;
}

/** Whether both speak of one movement. */
function isSame(answer: FinalReport, report: FinalReport): boolean {
  return answer.movement === undefined || report.movement === undefined || answer.movement === report.movement;
}

/** The rail's answer, with what only the message says about the same movement. */
function merged(answer: FinalReport, report: FinalReport): FinalReport {
  if (answer.kind !== "succeeded" || report.kind !== "succeeded" || !isSame(answer, report)) return answer;
  return {
    kind: "succeeded",
    movement: answer.movement ?? report.movement,
    receipt: answer.receipt ?? report.receipt,
    amountCents: answer.amountCents ?? report.amountCents,
    phone: answer.phone ?? report.phone,
  } satisfies Succeeded;
}
