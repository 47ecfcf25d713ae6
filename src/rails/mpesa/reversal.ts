import { uuidOf } from "../callback-token.js";
import { asText, type Fields } from "../fields.js";
import type { ReturnablePayment } from "../order.js";
import type { ReturnReport, Sent } from "../rail.js";
import type { DarajaAnswer } from "./daraja/client.js";
import { faultOf, readAmount, readReceipt, readResultMessage } from "./messages.js";
import { faultIn, readResult, REVERSED_BEFORE } from "./result-codes.js";
import { sentOf } from "./sent.js";
import type { MpesaAccount } from "./settings.js";

export const REVERSAL_PATH = "/mpesa/reversal/v1/request";

/**
 * The request that returns a whole payment to its payer. It names the payment by its receipt, and
 * M-Pesa returns each once. So nobody needs the payer's number, which M-Pesa hides.
 */
export function reversalRequest(
  { depositId, receipt }: ReturnablePayment,
  shillings: number,
  account: MpesaAccount,
): Fields {
  const url = account.callbackUrl("return", uuidOf(depositId));
  return {
    Initiator: account.initiatorName,
    SecurityCredential: account.securityCredential,
    CommandID: "TransactionReversal",
    TransactionID: receipt,
    Amount: shillings,
    ReceiverParty: account.collectShortcode,
    RecieverIdentifierType: "11", // Daraja spells it so.
    ResultURL: url,
    QueueTimeOutURL: url,
    Remarks: "KESC return",
    Occasion: "KESC",
  };
}

export function sentByReversal(answer: DarajaAnswer): Sent {
  return sentOf(answer, {
    of: "reversal",
    path: REVERSAL_PATH,
    accepted: (body) => ({ kind: "accepted", railReference: asText(body["ConversationID"]) }),
  });
}

/** Reads the result of a reversal. A result about another payment or amount says nothing. */
export function reportOfReversal(
  body: string,
  { receipt: paid, amountCents }: ReturnablePayment,
): ReturnReport | undefined {
  const message = readResultMessage(body);
  if (message === undefined) return undefined;
  const { resultCode: code, conversationId: request, transactionId, parameters } = message;
  if (code === REVERSED_BEFORE) return { kind: "returned before", request, code };
  const fault = faultOf(faultIn("reversal", code, REVERSAL_PATH));
  if (code !== "0" && readResult("reversal", code).failure !== undefined) {
    return { kind: "refused", request, code, ...fault };
  }
  if (code !== "0") return { kind: "open", request, code, ...fault };
  const receipt = readReceipt(transactionId);
  const amount = readAmount(parameters.get("Amount"));
  const isSame =
    (parameters.get("OriginalTransactionID") ?? paid) === paid &&
    amount.isReadable &&
    (amount.amountCents ?? amountCents) === amountCents;
  return receipt === undefined || receipt === paid || !isSame
    ? { kind: "open", request, code: "FOREIGN_RESULT" }
    : { kind: "returned", request, receipt };
}
