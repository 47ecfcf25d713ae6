import type { Fields } from "../fields.js";
import type { OpenPayment } from "../order.js";
import type { RailMessage, RailReport } from "../rail.js";
import { canBePaidTo } from "./b2b.js";
import type { DarajaAnswer } from "./daraja/client.js";
import { readPartyPhone, readReceipt, readResultMessage, reportOfCode, resultPlace, successOf } from "./messages.js";
import { STATUS_FAILURES } from "./result-codes.js";
import { notAsked } from "./sent.js";
import type { MpesaAccount } from "./settings.js";

export const STATUS_PATH = "/mpesa/transactionstatus/v1/query";

/**
 * Returns the OriginatorConversationID of a payout: ours to a phone, and M-Pesa's to a business.
 * Undefined if nobody has learned it.
 */
export function conversationOf({ transactionId, numberKind, railReference }: OpenPayment): string | undefined {
  return numberKind === "PHONE" ? transactionId : railReference;
}

/**
 * Asks what became of a payout, by its OriginatorConversationID. The request must have no
 * TransactionID, not even an empty one: Daraja then accepts it without a code, and never answers.
 */
export function statusRequest(
  { conversation, question }: { conversation: string; question: string },
  account: MpesaAccount,
): Fields {
  const url = account.callbackUrl("status", question);
  return {
    Initiator: account.initiatorName,
    SecurityCredential: account.securityCredential,
    CommandID: "TransactionStatusQuery",
    OriginalConversationID: conversation,
    PartyA: account.payOutShortcode,
    IdentifierType: "4",
    ResultURL: url,
    QueueTimeOutURL: url,
    Remarks: "KESC status",
    Occasion: "KESC",
  };
}

/** The answer to the request is no news of the payout: the news comes with a message. */
export function reportOfStatusRequest(answer: DarajaAnswer): RailReport {
  return { kind: "open", ...(notAsked(answer, { of: "status", path: STATUS_PATH }) ?? { code: "STATUS_REQUESTED" }) };
}

/**
 * Reads the result of a status query. A query that failed says nothing about the payout, so its
 * ResultCode is never looked up in the list of failures.
 */
export function reportOfStatus({ body }: RailMessage, payment: OpenPayment): RailReport | undefined {
  const message = readResultMessage(body);
  if (message === undefined || payment.direction !== "REDEEM") return undefined;
  const { resultCode: code, description, parameters } = message;
  const asked = { of: "status", path: STATUS_PATH } as const;
  if (code !== "0") return reportOfCode({ code, description, movement: "" }, asked);
  // The query has an id of its own in the message. The payout's id is among the parameters.
  const own = conversationOf(payment);
  const movement = parameters.get("OriginatorConversationID") ?? own;
  if ((own ?? movement) !== movement) return undefined;
  if (movement === undefined) return { kind: "open", code: "NO_REFERENCE" };
  const status = (parameters.get("TransactionStatus") ?? "").toUpperCase();
  const failure = STATUS_FAILURES.get(status);
  if (failure !== undefined)
    return { kind: "failed", movement, code: status, place: resultPlace(STATUS_PATH), failure };
  if (status !== "COMPLETED") return { kind: "open", code: "STATUS_OPEN" };
  const party = parameters.get("CreditPartyName");
  if (!canBePaidTo(party, payment)) return { kind: "open", code: "OTHER_BUSINESS" };
  return successOf(parameters.get("Amount"), {
    movement,
    receipt: readReceipt(parameters.get("ReceiptNo")),
    phone: payment.numberKind === "PHONE" ? readPartyPhone(party) : undefined,
  });
}
