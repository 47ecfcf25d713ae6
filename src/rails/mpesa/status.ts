import { uuidOf } from "../callback-token.js";
import type { Fields } from "../fields.js";
import type { OpenPayment } from "../order.js";
import type { RailMessage, RailReport } from "../rail.js";
import type { DarajaAnswer } from "./daraja/client.js";
import { readAmount, readPartyPhone, readReceipt, readResultMessage, responseCodeOf } from "./messages.js";
import { STATUS_FAILURES } from "./result-codes.js";
import type { Initiator, MpesaSettings } from "./settings.js";

export const STATUS_PATH = "/mpesa/transactionstatus/v1/query";

/** Asks what became of a payout, by the OriginatorConversationID that it was sent with. */
export function statusRequest({ transactionId }: OpenPayment, settings: MpesaSettings, initiator: Initiator): Fields {
  const url = settings.callbackUrl("status", uuidOf(transactionId));
  return {
    Initiator: initiator.name,
    SecurityCredential: initiator.securityCredential,
    CommandID: "TransactionStatusQuery",
    TransactionID: "",
    OriginalConversationID: transactionId,
    PartyA: settings.payOutShortcode,
    IdentifierType: "4",
    ResultURL: url,
    QueueTimeOutURL: url,
    Remarks: "KESC status",
    Occasion: "KESC",
  };
}

/** The answer to the request is no news of the payout: the news comes with a message. */
export function reportOfStatusRequest(answer: DarajaAnswer): RailReport {
  if (answer.kind !== "answered") return { kind: "open", code: answer.code };
  const { isOk, code, body } = answer;
  return { kind: "open", code: isOk && responseCodeOf(body) === "0" ? "STATUS_REQUESTED" : code };
}

/**
 * Reads the result of a status query. A query that failed says nothing about the payout, so its
 * ResultCode is never looked up in the list of failures.
 */
export function reportOfStatus(
  { body }: RailMessage,
  { transactionId, direction }: OpenPayment,
): RailReport | undefined {
  const message = readResultMessage(body);
  if (message === undefined || direction !== "REDEEM") return undefined;
  const { resultCode, parameters } = message;
  if (resultCode !== "0") return { kind: "open", code: resultCode };
  // The query has an id of its own in the message. The payout's id is among the parameters.
  if ((parameters.get("OriginatorConversationID") ?? transactionId) !== transactionId) return undefined;
  const status = (parameters.get("TransactionStatus") ?? "").toUpperCase();
  const failure = STATUS_FAILURES.get(status);
  if (failure !== undefined) return { kind: "failed", movement: transactionId, code: status, failure };
  if (status !== "COMPLETED") return { kind: "open", code: "STATUS_OPEN" };
  const { isReadable, amountCents } = readAmount(parameters.get("Amount"));
  if (!isReadable) return { kind: "open", code: "AMOUNT_UNREADABLE" };
  return {
    kind: "succeeded",
    movement: transactionId,
    receipt: readReceipt(parameters.get("ReceiptNo")),
    amountCents,
    phone: readPartyPhone(parameters.get("CreditPartyName")),
  };
}
