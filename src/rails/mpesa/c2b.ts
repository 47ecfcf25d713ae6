import type { PaymentByHand, PaymentVerdict } from "../../domain/deposits/payment-verdict.js";
import { asText, parseFields } from "../fields.js";
import type { DepositUrls } from "../rail.js";
import type { DarajaClient } from "./daraja/client.js";
import { readAmount, responseCodeOf } from "./messages.js";
import type { MpesaSettings } from "./settings.js";
import { transactionEndOf } from "./stk.js";

/** Safaricom uses 500.003.1001 for this and for other refusals. */
const ALREADY_REGISTERED = /already registered/i;

/**
 * Registers the addresses for payments without an order. In production M-Pesa takes one
 * registration of a shortcode. Returns the code of a failure.
 */
export async function registerForDeposits(
  client: DarajaClient,
  { confirmationUrl, validationUrl, settings }: DepositUrls & { readonly settings: MpesaSettings },
  signal: AbortSignal,
): Promise<string | undefined> {
  const { collectShortcode, c2bVersion, whenUnreachable } = settings;
  const request = {
    ShortCode: collectShortcode,
    ResponseType: whenUnreachable,
    ConfirmationURL: confirmationUrl,
    ValidationURL: validationUrl,
  };
  const answer = await client.post(`/mpesa/c2b/v${String(c2bVersion)}/registerurl`, request, signal);
  if (answer.kind !== "answered") return answer.code;
  const { isOk, code, message, body } = answer;
  const responseCode = responseCodeOf(body);
  if (isOk && responseCode === "0") return undefined;
  if (ALREADY_REGISTERED.test(message)) return "URLS_ALREADY_REGISTERED";
  return isOk ? (responseCode ?? "MALFORMED_ANSWER") : code;
}

/**
 * Reads a validation request. Undefined for a payment to an order's reference: M-Pesa may ask about
 * STK pushes, too, and the service has asked for those itself.
 */
export function readQuestion(body: string): PaymentByHand | undefined {
  const fields = parseFields(body);
  if (fields?.["TransAmount"] === undefined) return undefined;
  const reference = asText(fields["BillRefNumber"]);
  if (transactionEndOf(reference) !== undefined) return undefined;
  return { reference: reference ?? "", amountCents: readAmount(asText(fields["TransAmount"])).amountCents };
}

/** Safaricom's codes for an answer to a validation. */
const ANSWERS: Readonly<Record<PaymentVerdict, object>> = {
  "can be credited": { ResultCode: "0", ResultDesc: "Accepted" },
  "no account": { ResultCode: "C2B00012", ResultDesc: "Rejected" },
  "wrong amount": { ResultCode: "C2B00013", ResultDesc: "Rejected" },
};

export function answerToQuestion(verdict: PaymentVerdict): string {
  return JSON.stringify(ANSWERS[verdict]);
}
