import { keep } from "../kept.js";
import type { Payout } from "../mpesa/order.js";
import { PAY_OUT, RESULT_AFTER_MILLIS, scenarioOf } from "../mpesa/scenarios.js";
import { type Answer, answerOf, type Call, type Context, refuseOnce } from "./context.js";
import { checkShortcode } from "./fields.js";
import { initiatorFailure } from "./initiator.js";
import { Problem } from "./problem.js";

/** POST /mpesa/b2c/v3/paymentrequest */
export async function payOut({ organization, fields }: Call, context: Context): Promise<Answer> {
  const { clock, ids, mpesa, player } = context;
  const originatorConversationId = fields.text("OriginatorConversationID", /^\S{1,50}$/);
  fields.text("CommandID", /^(BusinessPayment|SalaryPayment|PromotionPayment)$/);
  const amountCents = fields.amountCents();
  checkShortcode(organization, fields, "PartyA");
  const msisdn = fields.msisdn("PartyB");
  fields.text("Remarks", /^.{2,100}$/);
  const queueTimeOutUrl = fields.url("QueueTimeOutURL");
  const resultUrl = fields.url("ResultURL");
  fields.optionalText("Occassion", /^.{0,100}$/);
  if (isKnown(originatorConversationId, context)) {
    throw new Problem(500, "500.002.1001", "Duplicate OriginatorConversationID.");
  }
  const scenario = scenarioOf(PAY_OUT, msisdn);
  refuseOnce({ direction: "OUT", family: "initiator", organization, msisdn, scenario }, context);
  const failure = initiatorFailure(organization, fields, "InitiatorName");

  const acceptedAtMillis = clock.nowMillis();
  const order: Payout = {
    direction: "OUT",
    organization,
    msisdn,
    amountCents,
    acceptedAtMillis,
    scenario,
    conversationId: ids.conversation(acceptedAtMillis),
    originatorConversationId,
    resultUrl,
    queueTimeOutUrl,
    request: fields.body,
    outcome: undefined,
    queries: 0,
  };
  keep(mpesa.orders, order);
  await player.start(
    order,
    failure === undefined ? scenario.steps : [{ afterMillis: RESULT_AFTER_MILLIS, kind: "fail", code: failure }],
  );
  return answerOf(order, {
    ConversationID: order.conversationId,
    OriginatorConversationID: originatorConversationId,
    ResponseCode: "0",
    ResponseDescription: "Accept the service request successfully.",
  });
}

/** Whether this id has begun a payout already, as far as the rail remembers. */
function isKnown(id: string, { clock, mpesa, idMemoryMillis }: Context): boolean {
  const sinceMillis = clock.nowMillis() - idMemoryMillis;
  return mpesa.orders.some(
    (order) =>
      order.direction === "OUT" && order.originatorConversationId === id && order.acceptedAtMillis > sinceMillis,
  );
}
