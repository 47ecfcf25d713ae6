import { otherNetworkOf } from "../../runtime/kenyan-networks.js";
import { keep } from "../kept.js";
import type { Payout } from "../mpesa/order.js";
import type { Organization } from "../mpesa/organization.js";
import type { ResultCode } from "../mpesa/results.js";
import { PAY_OUT, RESULT_AFTER_MILLIS, scenarioOf } from "../mpesa/scenarios.js";
import { type Answer, answerOf, type Call, type Context, refuseAtGateway } from "./context.js";
import { checkShortcode } from "./fields.js";
import { initiatorFailure } from "./initiator.js";
import { Problem } from "./problem.js";

/**
 * POST /mpesa/b2c/v3/paymentrequest, v1, whose requests have no id of the caller, and
 * /mpesa/b2pochi/v1/paymentrequest, which pays the till of a person's phone.
 */
export function payOut(path: "v3" | "v1" | "pochi"): (call: Call, context: Context) => Promise<Answer> {
  const command = path === "pochi" ? /^BusinessPayToPochi$/ : /^(BusinessPayment|SalaryPayment|PromotionPayment)$/;
  return async ({ organization, fields }, context) => {
    const { clock, ids, mpesa } = context;
    const isMade =
      path === "v1" || (path === "v3" && organization.b2cIds === "optional" && !fields.has("OriginatorConversationID"));
    const id = isMade ? ids.originatorConversation() : fields.text("OriginatorConversationID", /^\S{1,50}$/);
    try {
      return await payOnce({ organization, fields }, { id, command }, context);
    } catch (error) {
      if (error instanceof Problem && !isMade) keep(mpesa.refusedIds, { id, atMillis: clock.nowMillis() });
      throw error;
    }
  };
}

async function payOnce(
  { organization, fields }: Call,
  { id: originatorConversationId, command }: { readonly id: string; readonly command: RegExp },
  context: Context,
): Promise<Answer> {
  fields.text("CommandID", command);
  const amountCents = fields.amountCents();
  checkShortcode(organization, fields, "PartyA");
  const msisdn = fields.msisdn("PartyB");
  fields.text("Remarks", /^.{2,100}$/);
  const queueTimeOutUrl = fields.url("QueueTimeOutURL");
  const resultUrl = fields.url("ResultURL");
  // Safaricom's page has two s, clients have one, too.
  for (const name of ["Occassion", "Occasion"]) fields.optionalText(name, /^.{0,100}$/);
  if (isUsed(originatorConversationId, organization, context)) {
    throw new Problem(500, "500.002.1001", "Duplicate OriginatorConversationID.");
  }
  const scenario = scenarioOf(PAY_OUT, msisdn);
  refuseAtGateway({ direction: "OUT", family: "initiator", organization, msisdn, scenario }, context);
  const refused = initiatorFailure(organization, fields, "InitiatorName");
  // M-Pesa pays its own lines alone.
  const failure = refused ?? (otherNetworkOf(msisdn) === undefined ? undefined : "2040");
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

/** Whether this id is used up, as far as the rail remembers. What uses it up is a setting. */
function isUsed(id: string, { idsUsedBy }: Organization, { clock, mpesa, idMemoryMillis }: Context): boolean {
  const sinceMillis = clock.nowMillis() - idMemoryMillis;
  const isRefused = mpesa.refusedIds.some((refused) => refused.id === id && refused.atMillis > sinceMillis);
  if (idsUsedBy === "request" && isRefused) return true;
  return mpesa.orders.some((order) => {
    if (order.direction !== "OUT" || order.originatorConversationId !== id) return false;
    const isFree = idsUsedBy === "payment" && order.outcome !== undefined && order.outcome.receipt === undefined;
    return order.acceptedAtMillis > sinceMillis && !isFree;
  });
}
