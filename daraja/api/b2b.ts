import { PAY_OUT, scenarioOf } from "../mpesa/scenarios.js";
import { startPayout } from "./b2c.js";
import { type Answer, type Call, type Context, refuseOnce } from "./context.js";
import { checkShortcode } from "./fields.js";
import { initiatorFailure } from "./initiator.js";

/**
 * POST /mpesa/b2b/v1/paymentrequest: a payment to a till or a paybill, out of the working account.
 * The request has no id of the caller, so M-Pesa carries out each one. The ending of PartyB decides
 * as that of a phone does.
 */
export async function payBusiness({ organization, fields }: Call, context: Context): Promise<Answer> {
  const { ids } = context;
  const command = fields.text("CommandID", /^Business(PayBill|BuyGoods)$/);
  fields.text("SenderIdentifierType", /^4$/);
  fields.text("RecieverIdentifierType", /^4$/);
  const amountCents = fields.amountCents();
  checkShortcode(organization, fields, "PartyA");
  const number = fields.text("PartyB", /^\d{5,7}$/);
  const accountReference = fields.text("AccountReference", /^\S{1,13}$/);
  fields.text("Remarks", /^.{2,100}$/);
  const queueTimeOutUrl = fields.url("QueueTimeOutURL");
  const resultUrl = fields.url("ResultURL");
  const scenario = scenarioOf(PAY_OUT, number);
  refuseOnce({ direction: "OUT", family: "initiator", organization, msisdn: number, scenario }, context);
  const failure = initiatorFailure(organization, fields, "Initiator");
  const business = { isTill: command === "BusinessBuyGoods", accountReference };
  const party = { organization, msisdn: number, business, amountCents, scenario };
  const request = { originatorConversationId: ids.originatorConversation(), resultUrl, queueTimeOutUrl };
  return startPayout({ ...party, ...request, request: fields.body }, failure, context);
}
