import { PAY_OUT, scenarioOf } from "../mpesa/scenarios.js";
import { startPayout } from "./b2c.js";
import { type Answer, type Call, type Context, refuseAtGateway } from "./context.js";
import { checkShortcode } from "./fields.js";
import { initiatorFailure } from "./initiator.js";

/** What a statement calls each product, by its CommandID. */
const PRODUCTS: Readonly<Record<string, string>> = {
  BusinessPayBill: "Business Pay Bill",
  BusinessBuyGoods: "Business Buy Goods",
  BusinessPayToBulk: "Business Pay To Bulk",
  PayTaxToKRA: "Pay Tax To KRA",
};

/**
 * POST /mpesa/b2b/v1/paymentrequest: a payment to a till or a paybill, or the top-up of a utility
 * account, and /mpesa/b2b/v1/remittax: a tax. All go out of the working account. The request has no
 * id of the caller, so M-Pesa carries out each one. The ending of PartyB decides as that of a phone
 * does.
 */
export function payBusiness(command: RegExp): (call: Call, context: Context) => Promise<Answer> {
  return async ({ organization, fields }, context) => {
    const { ids } = context;
    const commandId = fields.text("CommandID", command);
    const isTill = commandId === "BusinessBuyGoods";
    const isTopUp = commandId === "BusinessPayToBulk";
    fields.text("SenderIdentifierType", /^4$/);
    const type = fields.text("RecieverIdentifierType", isTill ? /^[24]$/ : /^4$/);
    const amountCents = fields.amountCents();
    checkShortcode(organization, fields, "PartyA");
    const number = fields.text("PartyB", /^\d{5,7}$/);
    const accountReference = isTopUp
      ? fields.optionalText("AccountReference", /^\S{0,13}$/)
      : fields.text("AccountReference", /^\S{1,13}$/);
    fields.text("Remarks", /^.{2,100}$/);
    const queueTimeOutUrl = fields.url("QueueTimeOutURL");
    const resultUrl = fields.url("ResultURL");
    const scenario = scenarioOf(PAY_OUT, number);
    refuseAtGateway({ direction: "OUT", family: "initiator", organization, msisdn: number, scenario }, context);
    const { tillIdentifierType = type } = organization;
    const isFound = !isTill || type === String(tillIdentifierType);
    const failure = initiatorFailure(organization, fields, "Initiator") ?? (isFound ? undefined : "SFC_IC0003");
    const business = { words: PRODUCTS[commandId] ?? commandId, accountReference, isTopUp };
    const party = { organization, msisdn: number, business, amountCents, scenario };
    const request = { originatorConversationId: ids.originatorConversation(), resultUrl, queueTimeOutUrl };
    return startPayout({ ...party, ...request, request: fields.body }, failure, context);
  };
}
