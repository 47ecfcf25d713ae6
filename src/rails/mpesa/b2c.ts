import { uuidOf } from "../callback-token.js";
import { asText, type Fields } from "../fields.js";
import type { OpenPayment, RailOrder } from "../order.js";
import type { RailMessage, RailReport, Sent } from "../rail.js";
import type { DarajaAnswer } from "./daraja/client.js";
import {
  readPartyPhone,
  readQueueTimeout,
  readReceipt,
  readResultMessage,
  reportOfCode,
  successOf,
} from "./messages.js";
import { sentOf } from "./sent.js";
import type { MpesaAccount } from "./settings.js";

export const B2C_PATH = "/mpesa/b2c/v3/paymentrequest";

const REMARKS = "KESC redemption";

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
  return sentOf(answer, {
    of: "payout",
    path: B2C_PATH,
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
  const { resultCode: code, description, parameters } = message;
  const movement = transactionId;
  if (code !== "0") return reportOfCode({ code, description, movement }, { of: "payout", path: B2C_PATH });
  return successOf(parameters.get("TransactionAmount"), {
    movement,
    receipt: readReceipt(parameters.get("TransactionReceipt")) ?? readReceipt(message.transactionId),
    phone: readPartyPhone(parameters.get("ReceiverPartyPublicName")),
  });
}
