import type { UnixMillis } from "../../domain/values/time.js";
import { uuidOf } from "../callback-token.js";
import { asCode, asText, type Fields } from "../fields.js";
import { nairobiDigits } from "../nairobi-time.js";
import type { OpenPayment, RailOrder } from "../order.js";
import type { RailReport, Sent } from "../rail.js";
import { FOREIGN_ANSWER } from "./answers.js";
import type { DarajaAnswer } from "./daraja/client.js";
import {
  isStillProcessing,
  readCollectMessage,
  readPartyPhone,
  readReceipt,
  reportOfCode,
  successOf,
} from "./messages.js";
import { acceptedAs, notAsked, sentOf } from "./sent.js";
import type { MpesaSettings } from "./settings.js";

export const STK_PUSH_PATH = "/mpesa/stkpush/v1/processrequest";
export const STK_QUERY_PATH = "/mpesa/stkpushquery/v1/query";

const REFERENCE_CHARACTERS = 12;
// Daraja refuses a request without a description. It allows 13 characters.
const DESCRIPTION = "KESC";

/**
 * Returns what the payer reads in the prompt, and what M-Pesa's statements say: the last 12
 * characters of the transaction's id, which are random, in capital letters.
 */
export function accountReferenceOf(transactionId: string): string {
  return transactionId.slice(-REFERENCE_CHARACTERS).toUpperCase();
}

/**
 * Returns the end of the transaction's id that an account reference is, in lower case. Undefined if
 * a payer has typed a text of another length.
 */
export function transactionEndOf(accountReference: string | undefined): string | undefined {
  return accountReference?.length === REFERENCE_CHARACTERS ? accountReference.toLowerCase() : undefined;
}

/** The request that shows the payer a prompt for the PIN. */
export function pushRequest(order: RailOrder, shillings: number, settings: MpesaSettings, now: UnixMillis): Fields {
  const msisdn = order.number.slice(1);
  return {
    ...signature(settings, now),
    TransactionType: "CustomerPayBillOnline",
    Amount: shillings,
    PartyA: msisdn,
    PartyB: settings.collectShortcode,
    PhoneNumber: msisdn,
    CallBackURL: settings.callbackUrl("collect", uuidOf(order.transactionId)),
    AccountReference: accountReferenceOf(order.transactionId),
    TransactionDesc: DESCRIPTION,
  };
}

export function sentByPush(answer: DarajaAnswer): Sent {
  return sentOf(answer, {
    of: "push",
    path: STK_PUSH_PATH,
    accepted: (body) => acceptedAs(body["CheckoutRequestID"], STK_PUSH_PATH),
  });
}

export function pushQuery(checkoutRequestId: string, settings: MpesaSettings, now: UnixMillis): Fields {
  return { ...signature(settings, now), CheckoutRequestID: checkoutRequestId };
}

/** Reads the answer to `pushQuery`. It tells whether the payer paid, without receipt and amount. */
export function reportOfPushQuery(answer: DarajaAnswer, checkoutRequestId: string): RailReport {
  const problem = notAsked(answer, { of: "push query", path: STK_QUERY_PATH });
  const body = answer.kind === "answered" ? answer.body : {};
  const resultCode = asCode(body["ResultCode"]);
  if (problem !== undefined) return { kind: "open", ...problem };
  if (resultCode === undefined) return { kind: "open", code: "NO_RESULT" };
  if (asText(body["CheckoutRequestID"]) !== checkoutRequestId) {
    const fault = { kind: "request", request: STK_QUERY_PATH, code: FOREIGN_ANSWER } as const;
    return { kind: "open", code: FOREIGN_ANSWER, place: STK_QUERY_PATH, fault };
  }
  if (resultCode === "0") {
    return successOf(undefined, { movement: checkoutRequestId, receipt: undefined, phone: undefined });
  }
  return failedOrOpen(resultCode, asText(body["ResultDesc"]) ?? "", checkoutRequestId);
}

/** Reads a callback. A callback of another prompt is reported, too: its money came in. */
export function reportOfPush(body: string, { direction }: OpenPayment): RailReport | undefined {
  const message = readCollectMessage(body);
  if (message === undefined || direction !== "MINT") return undefined;
  const { checkoutRequestId, resultCode, description, items } = message;
  if (resultCode !== "0") return failedOrOpen(resultCode, description, checkoutRequestId);
  return successOf(items.get("Amount"), {
    movement: checkoutRequestId,
    receipt: readReceipt(items.get("MpesaReceiptNumber")),
    phone: readPartyPhone(items.get("PhoneNumber")),
  });
}

function failedOrOpen(code: string, description: string, movement: string): RailReport {
  // A pending prompt was seen with the code of a failure and this description.
  if (isStillProcessing(description)) return { kind: "open", code };
  return reportOfCode({ code, description, movement }, { of: "push", path: STK_PUSH_PATH });
}

function signature({ collectShortcode, passkey }: MpesaSettings, now: UnixMillis): Fields {
  const timestamp = nairobiDigits(now);
  return {
    BusinessShortCode: collectShortcode,
    Password: Buffer.from(`${collectShortcode}${passkey}${timestamp}`).toString("base64"),
    Timestamp: timestamp,
  };
}
