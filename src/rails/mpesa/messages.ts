import type { RailFailure, RailReceipt } from "../../domain/payment.js";
import { receiptOf } from "../../domain/receipt.js";
import { type Cents, parseAmount } from "../../domain/values/cents.js";
import { type MaskedPhone, readMaskedPhone } from "../../domain/values/masked-phone.js";
import { asCode, asFields, asParameters, asText, type Fields, parseFields } from "../fields.js";
import type { RailReport } from "../rail.js";

/** The callback of an STK push. */
export interface CollectMessage {
  readonly checkoutRequestId: string;
  readonly resultCode: string;
  readonly description: string;
  readonly items: ReadonlyMap<string, string>;
}

/** The result of a B2C payment, of a status query or of a balance query. */
export interface ResultMessage {
  readonly resultCode: string;
  readonly originatorConversationId: string | undefined;
  /** Daraja's own name for the request: its answer has it, too. */
  readonly conversationId: string | undefined;
  readonly transactionId: string | undefined;
  readonly parameters: ReadonlyMap<string, string>;
}

export function readCollectMessage(body: string): CollectMessage | undefined {
  const callback = asFields(asFields(parseFields(body)?.["Body"])?.["stkCallback"]);
  const checkoutRequestId = asText(callback?.["CheckoutRequestID"]);
  const resultCode = asCode(callback?.["ResultCode"]);
  if (callback === undefined || checkoutRequestId === undefined || resultCode === undefined) return undefined;
  const description = asText(callback["ResultDesc"]) ?? "";
  const items = asParameters(asFields(callback["CallbackMetadata"])?.["Item"], "Name");
  return { checkoutRequestId, resultCode, description, items };
}

export function readResultMessage(body: string): ResultMessage | undefined {
  const result = asFields(parseFields(body)?.["Result"]);
  const resultCode = asCode(result?.["ResultCode"]);
  if (result === undefined || resultCode === undefined) return undefined;
  return {
    resultCode,
    originatorConversationId: asText(result["OriginatorConversationID"]),
    conversationId: asText(result["ConversationID"]),
    transactionId: asText(result["TransactionID"]),
    parameters: asParameters(asFields(result["ResultParameters"])?.["ResultParameter"], "Key"),
  };
}

/**
 * Reads the notice that a B2C request waits in a queue of M-Pesa: Daraja sends the request itself
 * back. Returns its OriginatorConversationID.
 */
export function readQueueTimeout(body: string): string | undefined {
  return asText(parseFields(body)?.["OriginatorConversationID"]);
}

/** Returns whether a description says that the outcome is not known yet, whatever its code says. */
export function isStillProcessing(description: string): boolean {
  return /being processed|(under|still) processing|pending/i.test(description);
}

/**
 * Reads an amount such as "300", "300.00" or "10.5". `isReadable` is false if there is a text that
 * is no amount: such a report must not pass for one without an amount.
 */
export function readAmount(text: string | undefined): { isReadable: boolean; amountCents: Cents | undefined } {
  if (text === undefined) return { isReadable: true, amountCents: undefined };
  const amount = parseAmount(text);
  return amount.ok ? { isReadable: true, amountCents: amount.value } : { isReadable: false, amountCents: undefined };
}

/** Reports a success. One whose amount cannot be read is none: it may be about another amount. */
export function successOf(
  amount: string | undefined,
  said: Pick<Extract<RailReport, { kind: "succeeded" }>, "movement" | "receipt" | "phone">,
): RailReport {
  const { isReadable, amountCents } = readAmount(amount);
  return isReadable ? { kind: "succeeded", amountCents, ...said } : { kind: "open", code: "AMOUNT_UNREADABLE" };
}

/** Reports a failure, if the list of final failures has the code. */
export function failureOf(code: string, movement: string, failures: ReadonlyMap<string, RailFailure>): RailReport {
  const failure = failures.get(code);
  return failure === undefined ? { kind: "open", code } : { kind: "failed", movement, code, failure };
}

/** Returns a receipt of M-Pesa, or undefined for any other text. */
export function readReceipt(text: string | undefined): RailReceipt | undefined {
  return receiptOf("mpesa", text);
}

/** Reads the phone number of a party, such as "254705912645" or "254705912645 - JOHN DOE". */
export function readPartyPhone(text: string | undefined): MaskedPhone | undefined {
  const [number = ""] = (text ?? "").split(" - ");
  return readMaskedPhone(number.trim());
}

/** Returns a code of the request's answer: its ResponseCode if there is one. */
export function responseCodeOf(body: Fields): string | undefined {
  return asCode(body["ResponseCode"]);
}
