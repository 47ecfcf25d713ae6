import { nairobi, stamp } from "../mpesa/nairobi-time.js";
import { PHONE_OWNER } from "../mpesa/names.js";
import type { Collection, Order, Outcome, Payout, Receipt } from "../mpesa/order.js";
import {
  isTill,
  maskedPhone,
  type MessageForm,
  namedShortcodeOf,
  nextForm,
  type Organization,
} from "../mpesa/organization.js";
import { type ResultCode, RESULTS } from "../mpesa/results.js";

// The bodies of callbacks. Their types are as loose as the real ones.

export interface Message {
  readonly url: string;
  readonly body: object;
}

export interface Parameter {
  readonly Key: string;
  /** Some real parameters have none. */
  readonly Value?: string | number;
}

/** What the rail says of an order that has this outcome. */
export function messageOf(order: Order, outcome: Outcome): Message {
  return order.direction === "IN"
    ? { url: order.callbackUrl, body: stkCallback(order, outcome) }
    : { url: order.resultUrl, body: payoutResult(order, outcome) };
}

function stkCallback(order: Collection, { code, receipt }: Outcome): object {
  const about = {
    MerchantRequestID: order.merchantRequestId,
    CheckoutRequestID: order.checkoutRequestId,
    ResultCode: looseCode(code),
    ResultDesc: RESULTS[code],
  };
  if (receipt === undefined) return { Body: { stkCallback: about } };
  const form = nextForm(order.organization);
  const phone = form === 1 ? maskedPhone(order.msisdn) : Number(order.msisdn);
  const items = [
    { Name: "Amount", Value: amountIn(form, receipt.amountCents) },
    { Name: "MpesaReceiptNumber", Value: receipt.number },
    ...(form === 0 ? [{ Name: "Balance" }] : []),
    { Name: "TransactionDate", Value: Number(stamp(receipt.atMillis)) },
    ...(form === 2 ? [] : [{ Name: "PhoneNumber", Value: phone }]),
  ];
  return { Body: { stkCallback: { ...about, CallbackMetadata: { Item: items } } } };
}

function payoutResult(order: Payout, { code, atMillis, transactionId, receipt }: Outcome): object {
  const { organization, queueTimeOutUrl: url } = order;
  const envelope = {
    ...order,
    code: looseCode(code),
    transactionId,
    referenceItem: { Key: "QueueTimeoutURL", Value: url },
  };
  if (receipt === undefined) return resultOf({ ...envelope, text: RESULTS[code], parameters: undefined });
  const { year, month, day, hour, minute, second } = nairobi(atMillis);
  const form = nextForm(organization);
  const amount = amountIn(form, receipt.amountCents);
  if (order.business !== undefined) {
    const ofBusiness: Parameter[] = [
      { Key: "Amount", Value: String(amount) },
      { Key: "TransCompletedTime", Value: stamp(atMillis) },
      { Key: "DebitPartyCharges", Value: feeWords(receipt) },
      { Key: "ReceiverPartyPublicName", Value: nameOf(order.msisdn) },
      { Key: "Currency", Value: "KES" },
    ];
    const billReference = { Key: "BillReferenceNumber", Value: order.business.accountReference };
    return resultOf({ ...envelope, referenceItem: billReference, text: RESULTS[code], parameters: ofBusiness });
  }
  const parameters: Parameter[] = [
    { Key: "TransactionAmount", Value: amount },
    { Key: "TransactionReceipt", Value: receipt.number },
    ...(form === 2 ? [] : [{ Key: "ReceiverPartyPublicName", Value: nameOf(shownPhone(form, order.msisdn)) }]),
    { Key: "TransactionCompletedDateTime", Value: `${day}.${month}.${year} ${hour}:${minute}:${second}` },
    { Key: "B2CUtilityAccountAvailableFunds", Value: organization.utilityCents / 100 },
    { Key: "B2CWorkingAccountAvailableFunds", Value: organization.workingCents / 100 },
    { Key: "B2CRecipientIsRegisteredCustomer", Value: "Y" },
    { Key: "B2CChargesPaidAccountAvailableFunds", Value: organization.chargesCents / 100 },
  ];
  return resultOf({ ...envelope, text: RESULTS[code], parameters });
}

interface Result {
  readonly code: number | string;
  readonly text: string;
  readonly conversationId: string;
  readonly originatorConversationId: string;
  readonly transactionId: string;
  /** The real rail sends a single parameter as an object, and several as an array. */
  readonly parameters: Parameter | readonly Parameter[] | undefined;
  /** An object or an array, too. */
  readonly referenceItem: Parameter | readonly Parameter[];
  readonly type?: number | string;
}

/** The envelope of every result but that of STK. */
export function resultOf(result: Result): object {
  const { code, text, parameters, referenceItem, type = 0 } = result;
  return {
    Result: {
      ResultType: type,
      ResultCode: code,
      ResultDesc: text,
      OriginatorConversationID: result.originatorConversationId,
      ConversationID: result.conversationId,
      TransactionID: result.transactionId,
      ...(parameters === undefined ? {} : { ResultParameters: { ResultParameter: parameters } }),
      ReferenceData: { ReferenceItem: referenceItem },
    },
  };
}

/** The result of a status query that found the order or the receipt. */
export function statusParameters(found: Order | Receipt, organization: Organization): Parameter[] {
  const order = "number" in found ? found.order : found;
  const receipt = "number" in found ? found : found.outcome?.receipt;
  const { direction, msisdn, amountCents } = found;
  const business = `${namedShortcodeOf(organization)} - Simulated Business`;
  const form = nextForm(organization);
  // The number of a business is not personal.
  const party = nameOf(businessOf(found) === undefined ? shownPhone(form, msisdn) : msisdn);
  const [debit, credit] = direction === "IN" ? [party, business] : [business, party];
  const finishedAtMillis = receipt?.atMillis ?? order?.outcome?.atMillis;
  // A payment at the till has no order. It began when it ended.
  const beganAtMillis = order?.acceptedAtMillis ?? finishedAtMillis ?? 0;
  return [
    { Key: "DebitPartyName", Value: debit },
    { Key: "CreditPartyName", Value: credit },
    { Key: "OriginatorConversationID", Value: order?.direction === "OUT" ? order.originatorConversationId : "" },
    { Key: "InitiatedTime", Value: stamp(beganAtMillis) },
    { Key: "DebitAccountType", Value: debitAccountOf(found, organization) },
    { Key: "DebitPartyCharges", Value: feeWords(receipt) },
    { Key: "TransactionReason" },
    { Key: "ReasonType", Value: reasonOf(found, organization) },
    { Key: "TransactionStatus", Value: statusOf(receipt, order) },
    finishedAtMillis === undefined
      ? { Key: "FinalisedTime" }
      : { Key: "FinalisedTime", Value: stamp(finishedAtMillis) },
    { Key: "Amount", Value: String(amountIn(form, amountCents)) },
    { Key: "ConversationID", Value: order?.direction === "OUT" ? order.conversationId : "" },
    { Key: "ReceiptNo", Value: receipt?.number ?? order?.outcome?.transactionId ?? "" },
  ];
}

function businessOf(found: Order | Receipt): Payout["business"] {
  const order = "number" in found ? found.order : found;
  return order?.direction === "OUT" ? order.business : undefined;
}

function debitAccountOf(found: Order | Receipt, organization: Organization): string {
  if (found.direction === "IN") return "MMF Account For Customer";
  if (businessOf(found) !== undefined) return "Working Account";
  return isReversal(found) && isTill(organization) ? "Merchant Account" : "Utility Account";
}

function isReversal(found: Order | Receipt): boolean {
  return "number" in found && found.reversedReceipt !== undefined;
}

function reasonOf(found: Order | Receipt, organization: Organization): string {
  // Which word M-Pesa has for a reversal is not published.
  if (isReversal(found)) return "Reversal";
  const business = businessOf(found);
  if (business !== undefined) return business.words;
  if (found.direction === "OUT") return "Business Payment to Customer via API";
  return isTill(organization) ? "Buy Goods Online" : "Pay Bill Online";
}

function statusOf(receipt: Receipt | undefined, order: Order | undefined): string {
  // A receipt whose money went back may have another status. Safaricom does not say which.
  if (receipt !== undefined) return "Completed";
  // Both words mean that the order is still open.
  return order?.outcome?.status ?? (order !== undefined && order.queries % 2 === 0 ? "Authorized" : "Initiated");
}

function feeWords(receipt: Receipt | undefined): string {
  if (receipt === undefined || receipt.feeCents === 0) return "";
  const payment = businessOf(receipt) === undefined ? "B2C Payment" : "B2B Payment";
  return `Fee For ${payment}|KES|${(receipt.feeCents / 100).toFixed(2)}`;
}

function nameOf(msisdn: string): string {
  return `${msisdn} - ${PHONE_OWNER.join(" ")}`;
}

function amountIn(form: MessageForm, cents: number): number | string {
  return form === 1 ? (cents / 100).toFixed(2) : cents / 100;
}

function shownPhone(form: MessageForm, msisdn: string): string {
  return form === 1 ? maskedPhone(msisdn) : msisdn;
}

/** Codes of digits are numbers in most messages; others are texts. */
export function looseCode(code: ResultCode): number | string {
  return /^\d+$/.test(code) ? Number(code) : code;
}
