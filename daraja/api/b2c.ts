import { keep } from "../kept.js";
import type { Payout } from "../mpesa/order.js";
import type { ResultCode } from "../mpesa/results.js";
import { PAY_OUT, RESULT_AFTER_MILLIS, scenarioOf } from "../mpesa/scenarios.js";
import { type Answer, answerOf, type Call, type Context, refuseOnce } from "./context.js";
import { checkShortcode } from "./fields.js";
import { initiatorFailure } from "./initiator.js";
import { Problem } from "./problem.js";

/** POST /mpesa/b2c/v3/paymentrequest */
export async function payOut({ organization, fields }: Call, context: Context): Promise<Answer> {
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
  const party = { organization, msisdn, business: undefined, amountCents, scenario };
  const request = { originatorConversationId, resultUrl, queueTimeOutUrl, request: fields.body };
  return startPayout({ ...party, ...request }, failure, context);
}

type Requested = Omit<Payout, "direction" | "acceptedAtMillis" | "conversationId" | "outcome" | "queries">;

/** Accepts a payout, whose scenario then happens. A wrong initiator shows in the result only. */
export async function startPayout(
  requested: Requested,
  failure: ResultCode | undefined,
  { clock, ids, mpesa, player }: Context,
): Promise<Answer> {
  const acceptedAtMillis = clock.nowMillis();
  const conversationId = ids.conversation(acceptedAtMillis);
  const begun = { direction: "OUT", acceptedAtMillis, conversationId, outcome: undefined, queries: 0 } as const;
  const order: Payout = { ...requested, ...begun };
  keep(mpesa.orders, order);
  await player.start(
    order,
    failure === undefined ? order.scenario.steps : [{ afterMillis: RESULT_AFTER_MILLIS, kind: "fail", code: failure }],
  );
  return answerOf(order, {
    ConversationID: order.conversationId,
    OriginatorConversationID: order.originatorConversationId,
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
