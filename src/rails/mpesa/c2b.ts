import type { PaymentByHand, PaymentVerdict } from "../../domain/deposits/payment-verdict.js";
import { asText, parseFields } from "../fields.js";
import type { DepositUrls } from "../rail.js";
import { storedCode } from "../told-code.js";
import { NO_CODE, readAnswer } from "./answers.js";
import type { DarajaClient } from "./daraja/client.js";
import { readAmount } from "./messages.js";
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
  const path = `/mpesa/c2b/v${String(c2bVersion)}/registerurl`;
  const answer = await client.post(path, request, signal);
  if (answer.kind !== "answered") return answer.code;
  const { isOk, message } = answer;
  const { reading, code } = readAnswer(answer);
  // Some environments acknowledge it without a code, and keep the addresses.
  if (reading === "taken" || (isOk && code === NO_CODE)) return undefined;
  return ALREADY_REGISTERED.test(message) ? "URLS_ALREADY_REGISTERED" : storedCode({ code, place: path });
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
