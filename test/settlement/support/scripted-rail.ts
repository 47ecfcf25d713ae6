import type { RailReceipt } from "../../../src/domain/payment.js";
import type { Rail } from "../../../src/domain/transaction.js";
import { MAX_CENTS, toCents } from "../../../src/domain/values/cents.js";
import type { OpenPayment, RailOrder } from "../../../src/rails/order.js";
import type {
  BalanceAnswer,
  Capabilities,
  PaymentRail,
  RailMessage,
  RailReport,
  Sent,
} from "../../../src/rails/rail.js";

export const ACCEPTED: Sent = { kind: "accepted", railReference: "ref" };
export const UNKNOWN: Sent = { kind: "unknown", code: "NO_ANSWER" };
export const UNREACHED: Sent = { kind: "unreached", code: "BUSY", retryAfterMillis: 10_000 };
export const REJECTED: Sent = { kind: "rejected", code: "2001", failure: "WRONG_PIN" };
export const OPEN: RailReport = { kind: "open", code: "PENDING" };

/** A success as a query reports it. */
export function paid(
  movement: string,
  {
    receipt,
    ...given
  }: Partial<Omit<Extract<RailReport, { kind: "succeeded" }>, "receipt">> & { receipt?: string } = {},
): RailReport {
  const others = { amountCents: undefined, phone: undefined, ...given };
  return { kind: "succeeded", movement, receipt: receipt as RailReceipt | undefined, ...others };
}

export function failedWith(movement: string | undefined): Extract<RailReport, { kind: "failed" }> {
  return { kind: "failed", movement, code: "2001", failure: "WRONG_PIN" };
}

/** A rail that answers what a test wants, and notes what it was asked. */
export class ScriptedRail implements PaymentRail {
  readonly lockedCodes: ReadonlySet<string> = new Set(["LOCKED"]);
  readonly name = "scripted" as Rail;
  readonly checkAfterMillis = [75_000, 45_000, 180_000, 600_000, 2_700_000, 3_600_000];
  readonly sent: string[] = [];
  readonly asked: OpenPayment[] = [];
  onSend: (order: RailOrder, signal: AbortSignal) => Promise<Sent> = () => Promise.resolve(ACCEPTED);
  onQuery: (payment: OpenPayment, signal: AbortSignal) => Promise<RailReport> = () => Promise.resolve(OPEN);

  capabilities(): Capabilities {
    return { minCents: toCents(1), maxCents: MAX_CENTS, stepCents: toCents(1), phoneNumbers: /./ };
  }

  send(order: RailOrder, signal: AbortSignal): Promise<Sent> {
    this.sent.push(order.transactionId);
    return this.onSend(order, signal);
  }

  query(payment: OpenPayment, signal: AbortSignal): Promise<RailReport> {
    this.asked.push(payment);
    return this.onQuery(payment, signal);
  }

  /** The message is the report itself. */
  read({ body }: RailMessage): RailReport | undefined {
    return body.startsWith("{") ? (JSON.parse(body) as RailReport) : undefined;
  }

  askBalance(): Promise<BalanceAnswer> {
    return Promise.resolve({ kind: "unavailable", code: "NO_BALANCE" });
  }

  readBalance(): undefined {
    return undefined;
  }
}
