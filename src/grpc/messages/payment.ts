import { shownNumber } from "../../domain/destination.js";
import { FLAG_REASONS, type FlagReason, type PaymentState } from "../../domain/payment.js";
import type { HeldReason } from "../../domain/rail-account.js";
import type { Transaction } from "../../domain/transaction.js";
import { type Parsed, parsed, unparsed } from "../../domain/values/parsed.js";
import {
  FlagReason as FlagReasonMessage,
  HeldReason as HeldReasonMessage,
  type Payment as PaymentMessage,
  PaymentState as PaymentStateMessage,
  RailMessagePurpose,
} from "../../gen/kesc/v1/payment.js";
import type { CallbackPurpose } from "../../rails/callback-token.js";
import type { StoredMessage } from "../../settlement/ports/inbox.js";
import type { StoredPayment } from "../../settlement/ports/payments.js";
import { toTimestamp } from "./timestamp.js";

const STATES = {
  READY: PaymentStateMessage.PAYMENT_STATE_READY,
  SENDING: PaymentStateMessage.PAYMENT_STATE_SENDING,
  ACCEPTED: PaymentStateMessage.PAYMENT_STATE_ACCEPTED,
  ENDED: PaymentStateMessage.PAYMENT_STATE_ENDED,
} as const satisfies Record<PaymentState, PaymentStateMessage>;

const FLAGS = {
  OUTCOME_UNKNOWN: FlagReasonMessage.FLAG_REASON_OUTCOME_UNKNOWN,
  REPORT_DIFFERS: FlagReasonMessage.FLAG_REASON_REPORT_DIFFERS,
  REPORT_WITHOUT_ORDER: FlagReasonMessage.FLAG_REASON_REPORT_WITHOUT_ORDER,
  RECEIPT_ALREADY_USED: FlagReasonMessage.FLAG_REASON_RECEIPT_ALREADY_USED,
  NOT_CREDITED: FlagReasonMessage.FLAG_REASON_NOT_CREDITED,
  FAILED_AFTER_COMPLETION: FlagReasonMessage.FLAG_REASON_FAILED_AFTER_COMPLETION,
} as const satisfies Record<FlagReason, FlagReasonMessage>;

const HELD = {
  PAYOUTS_CLOSED: HeldReasonMessage.HELD_REASON_PAYOUTS_CLOSED,
  OUTCOMES_UNKNOWN: HeldReasonMessage.HELD_REASON_OUTCOMES_UNKNOWN,
} as const satisfies Record<HeldReason, HeldReasonMessage>;

const PURPOSES = {
  collect: RailMessagePurpose.RAIL_MESSAGE_PURPOSE_COLLECT,
  pay_out: RailMessagePurpose.RAIL_MESSAGE_PURPOSE_PAY_OUT,
  timeout: RailMessagePurpose.RAIL_MESSAGE_PURPOSE_TIMEOUT,
  status: RailMessagePurpose.RAIL_MESSAGE_PURPOSE_STATUS,
  // A message about a balance belongs to no transaction, so no payment has one.
  balance: RailMessagePurpose.RAIL_MESSAGE_PURPOSE_UNSPECIFIED,
} as const satisfies Record<CallbackPurpose, RailMessagePurpose>;

export function toPaymentMessage(
  payment: StoredPayment,
  {
    transaction,
    heldReason,
    messages,
  }: { transaction: Transaction; heldReason: HeldReason | undefined; messages: readonly StoredMessage[] },
): PaymentMessage {
  const { begunAt } = payment;
  return {
    transaction_id: payment.transactionId,
    rail: transaction.rail,
    state: STATES[payment.state],
    masked_phone_number: shownNumber(payment.numberKind, payment.maskedNumber),
    rail_reference: payment.railReference,
    started_at: begunAt === undefined ? undefined : toTimestamp(begunAt),
    send_count: payment.sends,
    check_count: payment.checks,
    next_check_at: payment.state === "ENDED" ? undefined : toTimestamp(payment.dueAt),
    last_code: payment.lastCode,
    open_flags: toFlagMessages(transaction),
    held_reason: toHeldReason(heldReason),
    messages: messages.map(({ purpose, body, receivedAt }) => ({
      purpose: PURPOSES[purpose],
      body,
      received_at: toTimestamp(receivedAt),
    })),
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
  if (unchecked === FlagReasonMessage.FLAG_REASON_UNSPECIFIED) return unparsed("is required", "REQUIRED");
  const flag = FLAG_REASONS.find((known) => FLAGS[known] === unchecked);
  return flag === undefined ? unparsed(`must be one of ${FLAG_REASONS.join(", ")}`, "UNKNOWN_VALUE") : parsed(flag);
}
