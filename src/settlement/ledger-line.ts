import type { PaymentCommand } from "../domain/operations.js";
import type { FailPayment } from "../domain/orders/fail-payment.js";
import type { MovementReport, RailMovement, RailReceipt, RailReference } from "../domain/payment.js";
import type { Transaction } from "../domain/transaction.js";
import type { Actor } from "../domain/values/actor.js";
import type { TransactionId } from "../domain/values/ids.js";
import { NO_REASON, parseStatusReason, type StatusReason } from "../domain/values/text.js";
import { toUnixMillis, type UnixMillis } from "../domain/values/time.js";
import { DECIDED_LATER, type Outcome } from "../ledger/ports/outcome.js";
import type { RailReport, Sent } from "../rails/rail.js";
import { type ToldCode, wordsOf } from "../rails/told-code.js";
import type { Evidence } from "./evidence.js";
import { BEGIN_MILLIS_MAX, RESULT_MILLIS_MAX, RESULT_WAITS_MILLIS } from "./limits.js";
import type { StoredPayment } from "./ports/payments.js";
import type { RailAccount } from "./ports/rail-accounts.js";
import type { OnEvent, SettlementTiming, Submit } from "./ports/runtime.js";

/** A payment with the rail account that it belongs to. */
export interface Work {
  readonly payment: StoredPayment;
  readonly account: RailAccount;
}

/** A report that says how an order ended. */
export type FinalReport = Exclude<RailReport, { kind: "open" }>;

type RejectedOrder = Pick<Extract<Sent, { kind: "rejected" }>, "failure" | "code" | "place">;

/** What the ledger made of a command. */
export type LedgerAnswer =
  | { readonly kind: "done"; readonly transaction: Transaction; readonly replayed: boolean }
  /** A rule refused it. */
  | { readonly kind: "refused"; readonly code: string }
  /** The ledger did not decide it, or nobody knows. */
  | { readonly kind: "undecided" };

interface LedgerLineOptions {
  readonly submit: Submit;
  readonly evidence: Evidence;
  readonly timing: SettlementTiming;
  readonly newTransactionId: () => TransactionId;
  /** Aborts when the settlement stops: then nothing is tried again. */
  readonly stopped: AbortSignal;
  readonly onEvent: OnEvent;
}

const TRANSIENT: ReadonlySet<string> = new Set(DECIDED_LATER);

/** Makes the commands of the settlement, and submits them. */
export class SettlementLine {
  readonly #options: LedgerLineOptions;

  constructor(options: LedgerLineOptions) {
    this.#options = options;
  }

  /**
   * Asks for the permission to ask the rail. It is given only if the answer is `done` and no
   * replay. It is never asked for twice here: after a lost answer the payment may be SENDING.
   */
  begin({ payment, account }: Work, nextCheckAt: UnixMillis, isAgain: boolean): Promise<LedgerAnswer> {
    const { revision: railRevision } = account;
    const command = { name: "beginPayment", ...about(payment, account), railRevision, nextCheckAt, isAgain } as const;
    return this.#decide(command, BEGIN_MILLIS_MAX);
  }

  accept(
    { payment, account }: Work,
    railReference: string | undefined,
    nextCheckAt: UnixMillis,
  ): Promise<LedgerAnswer> {
    const reference = railReference as RailReference | undefined;
    return this.#tell({ name: "acceptPayment", ...about(payment, account), railReference: reference, nextCheckAt });
  }

  /** Tells that the request with the number `sends` did not reach the rail, or was turned away. */
  postpone(
    { payment, account }: Work,
    request: { readonly sends: number; readonly isTurnedAway: boolean },
    nextCheckAt: UnixMillis,
  ): Promise<LedgerAnswer> {
    return this.#tell({ name: "postponePayment", ...about(payment, account), ...request, nextCheckAt });
  }

  /** Tells that the rail rejected the request with the number `sends`. */
  reject(work: Work, sends: number, rejected: RejectedOrder): Promise<LedgerAnswer> {
    const { failure } = rejected;
    return this.#fail(work, { sends, failure, reason: reasonOf(wordsOf(work.account.rail, rejected)) });
  }

  expire(work: Work): Promise<LedgerAnswer> {
    return this.#fail(work, { failure: "EXPIRED", reason: NO_REASON });
  }

  /** The rail says that an order has succeeded, and that it has failed. A person must find out. */
  flagContradiction({ payment, account }: Work): Promise<LedgerAnswer> {
    const words = { flag: "REPORT_DIFFERS", reason: reasonOf("the rail reports a success and a failure") } as const;
    return this.#tell({ name: "flagTransaction", ...about(payment, account), ...words });
  }

  /** The reason is a code of the rail, or words. */
  flagUnknown({ payment, account }: Work, reason: ToldCode | string): Promise<LedgerAnswer> {
    const text = typeof reason === "string" ? reason : wordsOf(account.rail, reason);
    const words = { flag: "OUTCOME_UNKNOWN", reason: reasonOf(text) } as const;
    return this.#tell({ name: "flagTransaction", ...about(payment, account), ...words });
  }

  /** Tells how the order ended. The ledger books it, replays it, or raises a flag. */
  async end(work: Work, report: FinalReport): Promise<LedgerAnswer> {
    const { payment, account } = work;
    if (report.kind === "failed") {
      return this.#fail(work, { failure: report.failure, reason: reasonOf(wordsOf(account.rail, report)) });
    }
    const { movement, receipt, phone } = report;
    // A query may name no amount. That of a callback must not wait until the callback is confirmed.
    const amountCents = report.amountCents ?? (await this.#options.evidence.amountOf(movement, work));
    // Only `isProof` reports come here.
    const said = { movement, receipt, amountCents, phone } as {
      movement: RailMovement;
      receipt: RailReceipt | undefined;
    } & MovementReport;
    const newTransactionId = this.#options.newTransactionId();
    const isDenied = payment.state !== "ENDED" && (await this.#options.evidence.says("failed", work, movement));
    return this.#tell({
      name: "completePayment",
      ...about(payment, account),
      ...said,
      newTransactionId,
      isDenied,
      reason: NO_REASON,
    });
  }

  /**
   * Fails the order. Flags it instead if a message says that it has succeeded: nobody can take the
   * hold of a redemption back once it is released.
   */
  async #fail(work: Work, failure: Pick<FailPayment, "failure" | "sends" | "reason">): Promise<LedgerAnswer> {
    const { payment, account } = work;
    if (payment.state !== "ENDED" && (await this.#options.evidence.says("succeeded", work))) {
      return this.flagContradiction(work);
    }
    return this.#tell({ name: "failPayment", ...about(payment, account), ...failure });
  }

  /** Submits what is true whenever it is submitted, and again if the ledger does not decide it. */
  async #tell(command: PaymentCommand): Promise<LedgerAnswer> {
    const { timing, stopped } = this.#options;
    for (const wait of [...RESULT_WAITS_MILLIS, undefined]) {
      const decided = await this.#decide(command, RESULT_MILLIS_MAX);
      if (decided.kind !== "undecided" || stopped.aborted || wait === undefined) return decided;
      await timing.wait(wait, stopped);
    }
    return { kind: "undecided" };
  }

  async #decide(command: PaymentCommand, millisMax: number): Promise<LedgerAnswer> {
    const { submit, timing, onEvent } = this.#options;
    const { transactionId } = command;
    let outcome: Outcome<Transaction>;
    try {
      outcome = await submit(command, toUnixMillis(timing.now() + millisMax));
    } catch (error) {
      onEvent({ kind: "error", error });
      return { kind: "undecided" };
    }
    if (outcome.kind === "done") return { kind: "done", transaction: outcome.resource, replayed: outcome.replayed };
    const { reason: code } = outcome.refusal;
    if (!TRANSIENT.has(code)) return { kind: "refused", code };
    onEvent({ kind: "undecided", transactionId, code });
    return { kind: "undecided" };
  }
}

/** Whether the report names what moved. Without it the ledger cannot tell two movements apart. */
export function isProof({ movement, receipt }: Extract<RailReport, { kind: "succeeded" }>): boolean {
  return movement !== undefined || receipt !== undefined;
}

function about(
  { organizationId, transactionId }: StoredPayment,
  { rail }: RailAccount,
): Pick<PaymentCommand, "organizationId" | "transactionId" | "actor"> {
  return { organizationId, transactionId, actor: rail.name as string as Actor };
}

function reasonOf(text: string): StatusReason {
  const reason = parseStatusReason(text);
  return reason.ok ? reason.value : NO_REASON;
}
