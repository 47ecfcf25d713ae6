import type { Order, Receipt } from "../mpesa/order.js";
import { isTill, type Organization } from "../mpesa/organization.js";
import { type ResultCode, RESULTS } from "../mpesa/results.js";
import { RESULT_AFTER_MILLIS } from "../mpesa/scenarios.js";
import type { Answer, Call, Context } from "./context.js";
import { checkShortcode, type Fields } from "./fields.js";
import { initiatorFailure } from "./initiator.js";
import { looseCode, type Parameter, resultOf, statusParameters } from "./messages.js";
import { badRequest } from "./problem.js";

/** The fields that both queries have, and what their result needs. */
interface Query {
  readonly resultUrl: string;
  readonly conversationId: string;
  readonly originatorConversationId: string;
  readonly failure: ResultCode | undefined;
}

const EMPTY_ACCEPTANCE: Answer = {
  body: { OriginatorConversationID: "", ConversationID: "", ResponseCode: "", ResponseDescription: "" },
};

/** POST /mpesa/transactionstatus/v1/query. The result comes as a callback of its own. */
export function queryStatus({ organization, fields }: Call, context: Context): Answer {
  const query = readQuery({ organization, fields, command: "TransactionStatusQuery" }, context);
  const transactionId = fields.optionalText("TransactionID", /^\S{0,50}$/);
  const conversationId = fields.optionalText("OriginalConversationID", /^\S{0,50}$/);
  if (transactionId === "" && conversationId === "") throw badRequest("TransactionID");
  // Seen at Safaricom: such a query is accepted by nothing, and its result never comes.
  if (conversationId !== "" && fields.body["TransactionID"] === "") return EMPTY_ACCEPTANCE;

  const { clock, ids, mpesa, player, callbacks } = context;
  clock.after(RESULT_AFTER_MILLIS, async () => {
    const found =
      findOrder(organization, { transactionId, conversationId }, mpesa.orders) ??
      mpesa.receipts.find((one) => one.number === transactionId && one.shortcode === organization.shortcode);
    const order = found === undefined || "number" in found ? undefined : found;
    if (order !== undefined && query.failure === undefined) player.queried(order);
    const said = order?.scenario.queriesSay ?? organization.statusResult;
    const code = query.failure ?? said ?? (found === undefined ? "R000002" : "0");
    const result = resultOf({
      ...query,
      code: looseCode(code),
      text: RESULTS[code],
      transactionId: ids.receipt(clock.nowMillis()),
      // A failed query has a single parameter, as an object.
      parameters:
        found === undefined || code !== "0"
          ? { Key: "BOCompletedTime", Value: clock.nowMillis() }
          : statusParameters(found, organization),
      referenceItem: [{ Key: "Occasion" }],
    });
    await callbacks.send(query.resultUrl, JSON.stringify(result));
  });
  return acceptanceOf(query);
}

/** POST /mpesa/accountbalance/v1/query. The result comes as a callback of its own. */
export function queryBalance({ organization, fields }: Call, context: Context): Answer {
  const query = readQuery({ organization, fields, command: "AccountBalance" }, context);
  const { clock, ids, callbacks } = context;
  clock.after(RESULT_AFTER_MILLIS, async () => {
    const code = query.failure ?? "0";
    const completed: Parameter = { Key: "BOCompletedTime", Value: clock.nowMillis() };
    const result = resultOf({
      ...query,
      // These two are texts in this product.
      type: "0",
      code,
      text: RESULTS[code],
      transactionId: ids.receipt(clock.nowMillis()),
      parameters: code === "0" ? [{ Key: "AccountBalance", Value: balanceWords(organization) }, completed] : completed,
      referenceItem: { Key: "Occasion" },
    });
    await callbacks.send(query.resultUrl, JSON.stringify(result));
  });
  return acceptanceOf(query);
}

function readQuery(
  { organization, fields, command }: { organization: Organization; fields: Fields; command: string },
  { clock, ids }: Context,
): Query {
  fields.text("CommandID", new RegExp(`^${command}$`));
  checkShortcode(organization, fields, "PartyA");
  fields.text("IdentifierType", /^4$/);
  fields.text("Remarks", /^.{2,100}$/);
  fields.url("QueueTimeOutURL");
  return {
    resultUrl: fields.url("ResultURL"),
    failure: initiatorFailure(organization, fields, "Initiator"),
    conversationId: ids.conversation(clock.nowMillis()),
    originatorConversationId: ids.originatorConversation(),
  };
}

function acceptanceOf({ conversationId, originatorConversationId }: Query): Answer {
  return {
    body: {
      OriginatorConversationID: originatorConversationId,
      ConversationID: conversationId,
      ResponseCode: "0",
      ResponseDescription: "Accept the service request successfully.",
    },
  };
}

/** By the id of the transaction, or by either of the ids of a payout. */
function findOrder(
  organization: Organization,
  { transactionId, conversationId }: { transactionId: string; conversationId: string },
  orders: readonly Order[],
): Order | Receipt | undefined {
  return orders.find((order) => {
    if (order.organization !== organization) return false;
    if (transactionId !== "") return order.outcome?.transactionId === transactionId;
    const ids = order.direction === "OUT" ? [order.originatorConversationId, order.conversationId] : [];
    return ids.includes(conversationId);
  });
}

/** "Working Account|KES|700000.00|700000.00|0.00|0.00&Float Account|…" */
function balanceWords(organization: Organization): string {
  const { workingCents, utilityCents, merchantCents, chargesCents } = organization;
  return Object.entries({
    Working: workingCents,
    Float: 0,
    Utility: utilityCents,
    ...(isTill(organization) ? { Merchant: merchantCents } : {}),
    "Charges Paid": chargesCents,
    "Organization Settlement": 0,
  })
    .map(([name, cents]) => [`${name} Account`, "KES", kes(cents), kes(cents), "0.00", "0.00"].join("|"))
    .join("&");
}

function kes(cents: number): string {
  return (cents / 100).toFixed(2);
}
