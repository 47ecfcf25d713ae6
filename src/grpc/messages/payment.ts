import { shownNumber } from "../../domain/destination.js";
import { FLAG_REASONS, type FlagReason, PAYMENT_STATES } from "../../domain/payment.js";
import { HELD_REASONS, type HeldReason } from "../../domain/rail-account.js";
import type { Transaction } from "../../domain/transaction.js";
import { formatCents } from "../../domain/values/cents.js";
import { shownPhone } from "../../domain/values/masked-phone.js";
import type { Parsed } from "../../domain/values/parsed.js";
import {
  FlagReason as FlagReasonMessage,
  HeldReason as HeldReasonMessage,
  type Payment as PaymentMessage,
  PaymentState as PaymentStateMessage,
  RailMessagePurpose,
  type RailReport as RailReportMessage,
  RailReportOutcome,
} from "../../gen/kesc/v1/payment.js";
import type { CallbackPurpose } from "../../rails/callback-token.js";
import type { RailReport } from "../../rails/rail.js";
import { toldCodeOf } from "../../rails/told-code.js";
import type { StoredMessage } from "../../settlement/ports/inbox.js";
import type { StoredPayment } from "../../settlement/ports/payments.js";
import { enumOf, parseRequiredWord } from "./enums.js";
import { toTimestamp } from "./timestamp.js";

const STATES = enumOf(PaymentStateMessage, "PAYMENT_STATE", PAYMENT_STATES);
const FLAGS = enumOf(FlagReasonMessage, "FLAG_REASON", FLAG_REASONS);
const HELD = enumOf(HeldReasonMessage, "HELD_REASON", HELD_REASONS);

const OUTCOMES = {
  succeeded: RailReportOutcome.RAIL_REPORT_OUTCOME_MOVED,
  failed: RailReportOutcome.RAIL_REPORT_OUTCOME_FAILED,
  open: RailReportOutcome.RAIL_REPORT_OUTCOME_OPEN,
} as const satisfies Record<RailReport["kind"], RailReportOutcome>;

const PURPOSES = {
  collect: RailMessagePurpose.RAIL_MESSAGE_PURPOSE_COLLECT,
  pay_out: RailMessagePurpose.RAIL_MESSAGE_PURPOSE_PAY_OUT,
  timeout: RailMessagePurpose.RAIL_MESSAGE_PURPOSE_TIMEOUT,
  status: RailMessagePurpose.RAIL_MESSAGE_PURPOSE_STATUS,
  // A message about a balance belongs to no transaction, so no payment has one.
  balance: RailMessagePurpose.RAIL_MESSAGE_PURPOSE_UNSPECIFIED,
} as const satisfies Record<CallbackPurpose, RailMessagePurpose>;

/** A message, with what it says about the payment. */
interface ToldMessage extends StoredMessage {
  readonly report: RailReport | undefined;
}

export function toPaymentMessage(
  payment: StoredPayment,
  {
    transaction,
    heldReason,
    meaning,
    messages,
  }: {
    transaction: Transaction;
    heldReason: HeldReason | undefined;
    meaning: string | undefined;
    messages: readonly ToldMessage[];
  },
): PaymentMessage {
  const { begunAt } = payment;
  const isHeld = transaction.heldFor.length > 0;
  return {
    transaction_id: payment.transactionId,
    rail: transaction.rail,
    state: isHeld ? PaymentStateMessage.PAYMENT_STATE_HELD : STATES[payment.state],
    masked_phone_number: shownNumber(payment.numberKind, payment.maskedNumber),
    rail_reference: payment.railReference,
    started_at: begunAt === undefined ? undefined : toTimestamp(begunAt),
    send_count: payment.sends,
    check_count: payment.checks,
    next_check_at: payment.state === "ENDED" || isHeld ? undefined : toTimestamp(payment.dueAt),
    last_code: payment.lastCode && toldCodeOf(payment.lastCode).code,
    open_flags: toFlagMessages(transaction),
    held_reason: toHeldReason(heldReason),
    last_code_meaning: meaning,
    messages: messages.map(({ purpose, body, receivedAt, report }) => ({
      purpose: PURPOSES[purpose],
      body,
      received_at: toTimestamp(receivedAt),
      report: report && toReportMessage(report),
    })),
  };
}

function toReportMessage(report: RailReport): RailReportMessage {
  const outcome = OUTCOMES[report.kind];
  if (report.kind !== "succeeded") return { outcome, code: report.code };
  const { amountCents, phone, receipt } = report;
  return {
    outcome,
    amount: amountCents === undefined ? undefined : formatCents(amountCents),
    masked_phone_number: phone && shownPhone(phone),
    receipt,
  };
}

export function toHeldReason(reason: HeldReason | undefined): HeldReasonMessage | undefined {
  return reason && HELD[reason];
}

/** Why a person must look at the transaction. */
export function toFlagMessages({ openFlags }: Pick<Transaction, "openFlags">): FlagReasonMessage[] {
  return openFlags.map((flag) => FLAGS[flag]);
}

/** Parses the flag of a request, which must have one. */
export function parseFlagReason(unchecked: FlagReasonMessage): Parsed<FlagReason> {
  return parseRequiredWord(unchecked, FLAG_REASONS, FLAGS);
}
