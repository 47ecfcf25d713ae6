import { RAIL_FAILURES, type RailReceipt } from "../../domain/payment.js";
import { receiptOf } from "../../domain/receipt.js";
import type { Rail, TransactionType } from "../../domain/transaction.js";
import { addCents, formatCents, parseAmount } from "../../domain/values/cents.js";
import { type MaskedPhone, readMaskedPhone } from "../../domain/values/masked-phone.js";
import { isPayable } from "../../domain/values/payable-amounts.js";
import { toUnixMillis, type UnixMillis } from "../../domain/values/time.js";
import { asText, parseFields } from "../fields.js";
import type { OpenPayment, RailOrder } from "../order.js";
import type { BalanceAnswer, Capabilities, PaymentRail, RailMessage, RailReport, Sent, TimedMessage } from "../rail.js";
import { ENDINGS, type SandboxEnding, type SandboxStep, USUAL_ENDING } from "./endings.js";

export const SANDBOX_RAIL = "sandbox" as Rail;

const UNREACHED_MILLIS = 5_000;
const RETRY_MILLIS = 1_000;
const CHECKS_MILLIS = [1_000, 1_000, 2_000, 5_000, 10_000, 30_000, 60_000];

interface SandboxOptions {
  readonly capabilities: Readonly<Record<TransactionType, Capabilities>>;
  readonly now: () => UnixMillis;
}

/**
 * A rail on which no shilling moves, for the tests of integrators. The last two digits of the phone
 * number decide how an order ends (`ENDINGS`).
 *
 * It keeps nothing. What it says depends on the stored payment, the time, and how often somebody
 * advanced the order. So it says the same after a restart and on every server.
 */
export class SandboxRail implements PaymentRail {
  readonly name = SANDBOX_RAIL;
  readonly checkAfterMillis = CHECKS_MILLIS;
  readonly #capabilities: Readonly<Record<TransactionType, Capabilities>>;
  readonly #now: () => UnixMillis;

  constructor({ capabilities, now }: SandboxOptions) {
    this.#capabilities = capabilities;
    this.#now = now;
  }

  capabilities(direction: TransactionType): Capabilities {
    return this.#capabilities[direction];
  }

  send(order: RailOrder, signal: AbortSignal): Promise<Sent> {
    return Promise.resolve(signal.aborted ? unreached("DEADLINE") : this.#sentOf(order));
  }

  query(payment: OpenPayment, signal: AbortSignal): Promise<RailReport> {
    if (signal.aborted) return Promise.resolve({ kind: "open", code: "DEADLINE" });
    const step = stepsSoFar(payment, this.#now()).at(-1);
    return Promise.resolve(step === undefined ? { kind: "open", code: "PENDING" } : this.#reportOf(payment, step));
  }

  isHeld({ maskedNumber, advances }: Pick<OpenPayment, "maskedNumber" | "advances">): boolean {
    return endingOf(maskedNumber).isHeld && advances === 0;
  }

  /**
   * Returns every message about the payment that the sandbox sends by itself, and those of the
   * steps that somebody has advanced, oldest first.
   */
  messagesOf(payment: OpenPayment): readonly TimedMessage[] {
    const { steps, answer } = endingOf(payment.maskedNumber);
    if (answer === "rejected") return [];
    return steps.flatMap((step, index) => {
      const isAdvanced = index < payment.advances;
      if (!isAdvanced && step.afterMillis === Infinity) return [];
      const at = isAdvanced ? this.#now() : toUnixMillis(payment.begunAt + step.afterMillis);
      const deliveries = Array.from({ length: step.messages }, (_, delivery) => delivery + 1);
      return deliveries.map((delivery) => ({
        purpose: payment.direction === "MINT" ? ("collect" as const) : ("pay_out" as const),
        body: messageBody(payment, this.#reportOf(payment, step), { step: index + 1, delivery }),
        at,
      }));
    });
  }

  read({ body }: RailMessage, { transactionId }: OpenPayment): RailReport | undefined {
    const fields = parseFields(body);
    if (fields?.["transaction_id"] !== transactionId) return undefined;
    const failure = RAIL_FAILURES.find((reason) => reason === fields["failure"]);
    if (failure !== undefined) return { kind: "failed", movement: transactionId, code: failure, failure };
    const amount = parseAmount(asText(fields["amount"]) ?? "");
    if (!amount.ok) return undefined;
    return {
      kind: "succeeded",
      movement: transactionId,
      receipt: receiptOfOrder(transactionId),
      amountCents: amount.value,
      phone: readMaskedPhone(asText(fields["phone_number"]) ?? ""),
    };
  }

  askBalance(): Promise<BalanceAnswer> {
    return Promise.resolve({ kind: "unavailable", code: "SANDBOX_HAS_NO_BALANCE" });
  }

  readBalance(): undefined {
    return undefined;
  }

  #sentOf({ transactionId, direction, amountCents, numberKind, number, acceptedAt }: RailOrder): Sent {
    const capabilities = this.#capabilities[direction];
    if (!isPayable(amountCents, capabilities)) {
      return { kind: "rejected", code: "AMOUNT_NOT_PAYABLE", failure: "RAIL_REFUSED" };
    }
    if (numberKind === "PHONE" && !capabilities.phoneNumbers.test(number)) {
      return { kind: "rejected", code: "PHONE_NUMBER_NOT_PAYABLE", failure: "RAIL_REFUSED" };
    }
    const { answer, failure } = endingOf(number);
    if (answer === "rejected") return { kind: "rejected", code: failure[direction], failure: failure[direction] };
    if (answer === "unknown") return { kind: "unknown", code: "ANSWER_LOST" };
    if (answer === "unreached_at_first" && this.#now() - acceptedAt < UNREACHED_MILLIS) return unreached("BUSY");
    return { kind: "accepted", railReference: transactionId };
  }

  #reportOf(payment: OpenPayment, { outcome }: SandboxStep): RailReport {
    const { transactionId, direction, amountCents, numberKind, maskedNumber } = payment;
    if (outcome === "failed") {
      const failure = endingOf(maskedNumber).failure[direction];
      return { kind: "failed", movement: transactionId, code: failure, failure };
    }
    const { stepCents } = this.#capabilities[direction];
    return {
      kind: "succeeded",
      movement: transactionId,
      receipt: receiptOfOrder(transactionId),
      amountCents: outcome === "succeeded" ? amountCents : addCents(amountCents, stepCents),
      phone: numberKind === "PHONE" ? (maskedNumber as MaskedPhone) : undefined,
    };
  }
}

function unreached(code: string): Sent {
  return { kind: "unreached", code, retryAfterMillis: RETRY_MILLIS };
}

function endingOf(number: string): SandboxEnding {
  return ENDINGS.find(({ digits }) => number.endsWith(digits)) ?? USUAL_ENDING;
}

/** The steps that have happened, by the time that passed or because somebody advanced the order. */
function stepsSoFar({ maskedNumber, begunAt, advances }: OpenPayment, now: UnixMillis): readonly SandboxStep[] {
  const { answer, steps } = endingOf(maskedNumber);
  if (answer === "rejected") return [];
  return steps.filter(({ afterMillis }, index) => now - begunAt >= afterMillis || index < advances);
}

function receiptOfOrder(transactionId: string): RailReceipt | undefined {
  return receiptOf(SANDBOX_RAIL, `SB${transactionId.slice(transactionId.indexOf("_") + 1).toUpperCase()}`);
}

function messageBody(
  { transactionId }: OpenPayment,
  report: RailReport,
  sent: { readonly step: number; readonly delivery: number },
): string {
  const amountCents = report.kind === "succeeded" ? report.amountCents : undefined;
  return JSON.stringify({
    transaction_id: transactionId,
    ...sent,
    ...(report.kind === "failed" ? { failure: report.failure } : {}),
    ...(amountCents === undefined ? {} : { amount: formatCents(amountCents) }),
    ...(report.kind === "succeeded" ? { phone_number: report.phone } : {}),
  });
}
