import { uuidOf } from "../callback-token.js";
import { asText, type Fields } from "../fields.js";
import type { OpenPayment, RailOrder } from "../order.js";
import type { RailMessage, RailReport, Sent } from "../rail.js";
import type { DarajaAnswer } from "./daraja/client.js";
import { failureOf, readPartyPhone, readQueueTimeout, readReceipt, readResultMessage, successOf } from "./messages.js";
import { PAY_OUT_FAILURES, REFUSED_PAY_OUTS } from "./result-codes.js";
import { sentOf } from "./sent.js";
import type { MpesaAccount } from "./settings.js";

export const B2C_PATH = "/mpesa/b2c/v3/paymentrequest";

const REMARKS = "KESC redemption";

// The code also means "System internal error.", which proves nothing. Only the message tells.
const DUPLICATE_CODE = "500.002.1001";
const DUPLICATE_MESSAGE = /duplicate originator ?conversation ?id/i;

/**
 * The request for a payout. Every request for a transaction has the same OriginatorConversationID,
 * the transaction's id, so that M-Pesa refuses the second.
 */
export function payOutRequest(order: RailOrder, shillings: number, account: MpesaAccount): Fields {
  const uuid = uuidOf(order.transactionId);
  return {
    OriginatorConversationID: order.transactionId,
    InitiatorName: account.initiatorName,
    SecurityCredential: account.securityCredential,
    CommandID: "BusinessPayment",
    Amount: shillings,
    PartyA: account.payOutShortcode,
    PartyB: order.number.slice(1),
    Remarks: REMARKS,
    QueueTimeOutURL: account.callbackUrl("timeout", uuid),
    ResultURL: account.callbackUrl("pay_out", uuid),
    Occassion: "", // Daraja spells it so.
  };
}

export function sentByPayOut(answer: DarajaAnswer): Sent {
  // The earlier request with the same id was received. Whether it was paid, the query tells.
  if (answer.kind === "answered" && answer.code === DUPLICATE_CODE && DUPLICATE_MESSAGE.test(answer.message)) {
    return { kind: "accepted", railReference: undefined };
  }
  return sentOf(answer, {
    refused: REFUSED_PAY_OUTS,
    accepted: (body) => ({ kind: "accepted", railReference: asText(body["ConversationID"]) }),
  });
}

/** Reads the result of a payout, or the notice that the request waits in a queue of M-Pesa. */
export function reportOfPayOut(
  { body }: RailMessage,
  { transactionId, direction }: OpenPayment,
): RailReport | undefined {
  if (direction !== "REDEEM") return undefined;
  const message = readResultMessage(body);
  if (message === undefined) {
    // It is no proof of a failure: the payout may still be made.
    return readQueueTimeout(body) === transactionId ? { kind: "open", code: "QUEUE_TIMEOUT" } : undefined;
  }
  if (message.originatorConversationId !== transactionId) return undefined;
  const { resultCode, parameters } = message;
  if (resultCode !== "0") return failureOf(resultCode, transactionId, PAY_OUT_FAILURES);
  return successOf(parameters.get("TransactionAmount"), {
    movement: transactionId,
    receipt: readReceipt(parameters.get("TransactionReceipt")) ?? readReceipt(message.transactionId),
    phone: readPartyPhone(parameters.get("ReceiverPartyPublicName")),
  });
}
