import type { PaymentCommand } from "../domain/commands.js";
import type { MovementReport, RailMovement, RailReceipt, RailReference } from "../domain/payment.js";
import type { Transaction } from "../domain/transaction.js";
import type { Actor } from "../domain/values/actor.js";
import type { TransactionId } from "../domain/values/ids.js";
import { NO_REASON, parseStatusReason, type StatusReason } from "../domain/values/text.js";
import { toUnixMillis, type UnixMillis } from "../domain/values/time.js";
import type { LedgerRefusal, Outcome } from "../ledger/ports/outcome.js";
import type { Report, Sent } from "../rails/rail.js";
import { BEGIN_MILLIS_MAX, RESULT_MILLIS_MAX, RESULT_WAITS_MILLIS } from "./limits.js";
import type { StoredPayment } from "./ports/payments.js";
import type { RailAccount } from "./ports/rail-accounts.js";
import type { OnEvent, Submit, Timing } from "./ports/runtime.js";

/** A payment with the rail account that it belongs to. */
export interface Work {
  readonly payment: StoredPayment;
  readonly account: RailAccount;
}

/** The permission to ask the rail. */
export interface Grant {
  /** Which request it is: the payment's `sends` after the begin. */
  readonly sends: number;
  /** After that, another server may have asked the rail as well. */
  readonly endsAt: UnixMillis;
}

/** A report that says how an order ended. */
export type FinalReport = Exclude<Report, { kind: "open" }>;

type Rejected = Pick<Extract<Sent, { kind: "rejected" }>, "failure" | "code">;

/** What the ledger made of a command. */
export type Decided =
  | { readonly kind: "done"; readonly transaction: Transaction; readonly replayed: boolean }
  /** A rule refused it. */
  | { readonly kind: "refused"; readonly code: string }
  /** The ledger did not decide it, or nobody knows. */
  | { readonly kind: "undecided" };

interface LedgerLineOptions {
  readonly submit: Submit;
  readonly timing: Timing;
  readonly newTransactionId: () => TransactionId;
  /** Aborts when the settlement stops: then nothing is tried again. */
  readonly stopped: AbortSignal;
  readonly onEvent: OnEvent;
}

// The ledger may decide the same command a moment later.
const TRANSIENT: ReadonlySet<string> = new Set<LedgerRefusal["reason"] | "BOOK_MOVING" | "CLOCK_BEHIND">([
  "QUEUE_FULL",
  "SHUTTING_DOWN",
  "DEADLINE_EXCEEDED",
  "STORAGE_UNAVAILABLE",
  "BOOK_MOVING",
  "CLOCK_BEHIND",
]);

/** Makes the commands of the settlement, and submits them. */
export class LedgerLine {
  readonly #options: LedgerLineOptions;

  constructor(options: LedgerLineOptions) {
    this.#options = options;
  }

  /**
   * Asks for the permission to ask the rail. It is given only if the answer is `done` and no
   * replay. It is never asked for twice here: after a lost answer the payment may be SENDING.
   */
  begin({ payment, account }: Work, nextCheckAt: UnixMillis): Promise<Decided> {
    const command = { name: "beginPayment", ...about(payment, account), nextCheckAt } as const;
    return this.#decide(command, this.#options.timing.now() + BEGIN_MILLIS_MAX);
  }

  accept({ payment, account }: Work, railReference: string | undefined, nextCheckAt: UnixMillis): Promise<Decided> {
    const reference = railReference as RailReference | undefined;
    return this.#tell({ name: "acceptPayment", ...about(payment, account), railReference: reference, nextCheckAt });
  }

  /**
   * Tells that the request did not reach the rail. Tells it only while the grant lasts: later it
   * may no longer be true of the order, because another server has sent it.
   */
  postpone({ payment, account }: Work, { sends, endsAt }: Grant, nextCheckAt: UnixMillis): Promise<Decided> {
    return this.#tell({ name: "postponePayment", ...about(payment, account), sends, nextCheckAt }, endsAt);
  }

  expire({ payment, account }: Work): Promise<Decided> {
    return this.#tell({ name: "failPayment", ...about(payment, account), failure: "EXPIRED", reason: NO_REASON });
  }

  flagUnknown({ payment, account }: Work, reason: string): Promise<Decided> {
    const words = { flag: "OUTCOME_UNKNOWN", reason: reasonOf(reason) } as const;
    return this.#tell({ name: "flagTransaction", ...about(payment, account), ...words });
  }

  /**
   * Tells that the rail rejected the request. As above, it says something about the order only
   * while the grant lasts.
   */
  reject(work: Work, rejected: Rejected, { endsAt }: Grant): Promise<Decided> {
    return this.#fail(work, rejected, endsAt);
  }

  /** Tells how the order ended. The ledger books it, replays it, or raises a flag. */
  end(work: Work, report: FinalReport): Promise<Decided> {
    const { payment, account } = work;
    if (report.kind === "failed") return this.#fail(work, report, Infinity);
    const { movement, receipt, amountCents, phone } = report;
    // Only `isProof` reports come here.
    const said = { movement, receipt, amountCents, phone } as {
      movement: RailMovement;
      receipt: RailReceipt | undefined;
    } & MovementReport;
    const newTransactionId = this.#options.newTransactionId();
    return this.#tell({
      name: "completePayment",
      ...about(payment, account),
      ...said,
      newTransactionId,
      reason: NO_REASON,
    });
  }

  #fail({ payment, account }: Work, { failure, code }: Rejected, endsAt: number): Promise<Decided> {
    return this.#tell({ name: "failPayment", ...about(payment, account), failure, reason: reasonOf(code) }, endsAt);
  }

  /** Submits what is true until `endsAt`, and again if the ledger does not decide it. */
  async #tell(command: PaymentCommand, endsAt = Infinity): Promise<Decided> {
    const { timing, stopped } = this.#options;
    for (const wait of [...RESULT_WAITS_MILLIS, undefined]) {
      const now = timing.now();
      const decided = await this.#decide(command, Math.min(now + RESULT_MILLIS_MAX, endsAt));
      if (decided.kind !== "undecided" || stopped.aborted || wait === undefined) return decided;
      await timing.wait(wait, stopped);
    }
    return { kind: "undecided" };
  }

  async #decide(command: PaymentCommand, deadline: number): Promise<Decided> {
    const { submit, onEvent } = this.#options;
    const { transactionId } = command;
    let outcome: Outcome<Transaction>;
    try {
      outcome = await submit(command, toUnixMillis(deadline));
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
export function isProof({ movement, receipt }: Extract<Report, { kind: "succeeded" }>): boolean {
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
