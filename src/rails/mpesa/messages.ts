import type { RailReceipt } from "../../domain/payment.js";
import { receiptOf } from "../../domain/receipt.js";
import { type Cents, toCents } from "../../domain/values/cents.js";
import { type MaskedPhone, readMaskedPhone } from "../../domain/values/masked-phone.js";
import { asCode, asFields, asParameters, asText, type Fields, parseFields } from "../fields.js";
import type { RailFault, RailReport } from "../rail.js";
import { signedAmount } from "../written-amount.js";
import { faultIn, readResult, type ResultOf } from "./result-codes.js";

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
  readonly description: string;
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
    description: asText(result["ResultDesc"]) ?? "",
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
 * Reads what moved, such as "300", "10.5" or "1,700.00". `isReadable` is false if there is a text
 * that is no amount above zero: such a report must not pass for one without an amount.
 */
export function readAmount(text: string | undefined): { isReadable: boolean; amountCents: Cents | undefined } {
  if (text === undefined) return { isReadable: true, amountCents: undefined };
  const cents = signedAmount(text);
  return typeof cents === "number" && cents > 0
    ? { isReadable: true, amountCents: toCents(cents) }
    : { isReadable: false, amountCents: undefined };
}

/** Reports a success. One whose amount cannot be read is none: it may be about another amount. */
export function successOf(
  amount: string | undefined,
  said: Pick<Extract<RailReport, { kind: "succeeded" }>, "movement" | "receipt" | "phone">,
): RailReport {
  const { isReadable, amountCents } = readAmount(amount);
  return isReadable ? { kind: "succeeded", amountCents, ...said } : { kind: "open", code: "AMOUNT_UNREADABLE" };
}

/** What a result is about: a request, whose path shows in the code's place. */
export interface ResultOfRequest {
  readonly of: ResultOf;
  readonly path: string;
}

/** Returns the place of a code in the result of a request. */
export function resultPlace(path: string): string {
  return `result of ${path}`;
}

/** Reports what a code other than 0 says. A person looks where nobody is sure. */
export function reportOfCode(
  { code, description, movement }: { code: string; description: string; movement: string },
  { of, path }: ResultOfRequest,
): RailReport {
  const { means, failure } = readResult(of, code, description);
  const fault = faultOf(faultIn(of, code, path));
  const place = resultPlace(path);
  if (failure !== undefined) return { kind: "failed", movement, code, place, failure, ...fault };
  // A question that the credentials or the time do not allow says nothing of the order.
  if (means === "pending" || means === "initiator refused") return { kind: "open", code, ...fault };
  return { kind: "open", code, place, ...(means === "locked" ? {} : { isUnclear: true as const }), ...fault };
}

/** Leaves the field out where there is no fault. */
export function faultOf(fault: RailFault | undefined): { readonly fault?: RailFault } {
  return fault === undefined ? {} : { fault };
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
