import { type BusinessNumber, partsOf } from "../../domain/destination.js";
import { uuidOf } from "../callback-token.js";
import { type Fields, parseFields } from "../fields.js";
import type { OpenPayment, RailOrder } from "../order.js";
import type { RailMessage, RailReport, Sent } from "../rail.js";
import type { DarajaAnswer } from "./daraja/client.js";
import { readReceipt, readResultMessage, reportOfCode, successOf } from "./messages.js";
import { acceptedAs, sentOf } from "./sent.js";
import type { MpesaAccount } from "./settings.js";
import { accountReferenceOf } from "./stk.js";

export const B2B_PATH = "/mpesa/b2b/v1/paymentrequest";

/** The identifier type of a shortcode. */
const SHORTCODE = "4";
const PARTY_NUMBER = /^([0-9]{5,7})( - |$)/;

/**
 * The request for a payout to a till or a paybill, out of the working account. It has no id that
 * M-Pesa would refuse a second time. So no second request may follow one that M-Pesa may have.
 */
export function businessRequest(order: RailOrder, shillings: number, account: MpesaAccount): Fields {
  const uuid = uuidOf(order.transactionId);
  const { business, accountNumber } = partsOf(order.number as BusinessNumber);
  return {
    Initiator: account.initiatorName,
    SecurityCredential: account.securityCredential,
    CommandID: order.numberKind === "TILL" ? "BusinessBuyGoods" : "BusinessPayBill",
    SenderIdentifierType: SHORTCODE,
    RecieverIdentifierType: SHORTCODE, // Daraja spells it so.
    Amount: shillings,
    PartyA: account.payOutShortcode,
    PartyB: business,
    // A till has no account numbers, so this can say which transaction it is.
    AccountReference: accountNumber ?? accountReferenceOf(order.transactionId),
    Remarks: `KESC ${order.transactionId}`,
    QueueTimeOutURL: account.callbackUrl("timeout", uuid),
    ResultURL: account.callbackUrl("pay_out", uuid),
  };
}

export function sentByBusiness(answer: DarajaAnswer): Sent {
  return sentOf(answer, {
    of: "business",
    path: B2B_PATH,
    accepted: (body) => acceptedAs(body["OriginatorConversationID"], B2B_PATH),
  });
}

/**
 * Reads the result of a payout to a business, or the notice that the request waits in a queue. The
 * answer to the request may have been lost: then the result brings M-Pesa's id of the request.
 */
export function reportOfBusiness({ purpose, body }: RailMessage, payment: OpenPayment): RailReport | undefined {
  const message = readResultMessage(body);
  if (message === undefined) {
    // Daraja sends the request back, which has no id. The address says whose it is.
    return purpose === "timeout" && parseFields(body) !== undefined
      ? { kind: "open", code: "QUEUE_TIMEOUT" }
      : undefined;
  }
  const { resultCode: code, description, originatorConversationId: movement, parameters } = message;
  if (movement === undefined || (payment.railReference ?? movement) !== movement) return undefined;
  if (code !== "0") return reportOfCode({ code, description, movement }, { of: "payout", path: B2B_PATH });
  if (!canBePaidTo(parameters.get("ReceiverPartyPublicName"), payment)) return { kind: "open", code: "OTHER_BUSINESS" };
  const receipt = readReceipt(message.transactionId);
  return successOf(parameters.get("Amount"), { movement, receipt, phone: undefined });
}

/**
 * Whether a party such as "600000 - SHOP" can be the business that was ordered. M-Pesa may name a
 * till by the number of its store, so only the number of a paybill tells.
 */
export function canBePaidTo(
  party: string | undefined,
  { numberKind, maskedNumber }: Pick<OpenPayment, "numberKind" | "maskedNumber">,
): boolean {
  const [, number] = PARTY_NUMBER.exec(party ?? "") ?? [];
  return numberKind !== "PAYBILL" || number === undefined || number === partsOf(maskedNumber).business;
}
