import { otherNetworkOf } from "../../runtime/kenyan-networks.js";
import { keep } from "../kept.js";
import type { Collection } from "../mpesa/order.js";
import { apiShortcodeOf, isTill, type Organization } from "../mpesa/organization.js";
import { RESULTS } from "../mpesa/results.js";
import { COLLECT, PROMPT_MILLIS, RESULT_AFTER_MILLIS, scenarioOf } from "../mpesa/scenarios.js";
import { type Answer, answerOf, type Call, type Context, refuseAtGateway } from "./context.js";
import type { Fields } from "./fields.js";
import { badRequest, Problem, tooManyRequests } from "./problem.js";

/** A prompt with more does not reach the handset: 1025. */
const PROMPT_CHARACTERS_MAX = 182;
/** What a prompt says besides the amount and the account. A guess: the texts differ by menu. */
const PROMPT_WORDS_CHARACTERS = 100;

const ACCEPTED = "Success. Request accepted for processing";

/** POST /mpesa/stkpush/v1/processrequest */
export async function stkPush({ organization, fields }: Call, context: Context): Promise<Answer> {
  const { clock, ids, mpesa, player } = context;
  const shortcode = fields.text("BusinessShortCode", /^\d{5,7}$/);
  checkPassword(organization, fields, shortcode);
  const type = fields.text("TransactionType", /^(CustomerPayBillOnline|CustomerBuyGoodsOnline)\s*$/).trim();
  const amountCents = fields.amountCents();
  fields.msisdn("PartyA");
  const partyB = fields.text("PartyB", /^\d{5,7}$/);
  const msisdn = fields.msisdn("PhoneNumber");
  const callbackUrl = fields.url("CallBackURL");
  // The page says 12 and 13 characters. The sandbox takes more.
  const accountReference = fields.text("AccountReference", /^.{1,182}$/);
  fields.text("TransactionDesc", /^.{1,182}$/, "Remarks");
  if (isLocked(msisdn, context)) {
    const locked = "Unable to lock subscriber, a transaction is already in process for the current subscriber";
    throw new Problem(500, "500.001.1001", locked);
  }
  const scenario = scenarioOf(COLLECT, msisdn);
  refuseAtGateway({ direction: "IN", family: "stk", organization, msisdn, scenario }, context);

  const acceptedAtMillis = clock.nowMillis();
  const order: Collection = {
    direction: "IN",
    organization,
    msisdn,
    amountCents,
    acceptedAtMillis,
    scenario,
    merchantRequestId: ids.merchantRequest(),
    checkoutRequestId: ids.checkoutRequest(acceptedAtMillis, msisdn),
    accountReference,
    callbackUrl,
    outcome: undefined,
    queries: 0,
  };
  keep(mpesa.orders, order);
  const isOfProduct = type === (isTill(organization) ? "CustomerBuyGoodsOnline" : "CustomerPayBillOnline");
  const isPayable = isOfProduct && partyB === organization.shortcode;
  const isTooLong = promptCharacters(order) > PROMPT_CHARACTERS_MAX;
  const ofNetwork = otherNetworkOf(msisdn) === undefined ? undefined : "SFC_IC0003";
  const failure = !isPayable ? "2028" : isTooLong ? "1025" : ofNetwork;
  await player.start(
    order,
    failure === undefined ? scenario.steps : [{ afterMillis: RESULT_AFTER_MILLIS, kind: "fail", code: failure }],
  );
  return answerOf(order, {
    MerchantRequestID: order.merchantRequestId,
    CheckoutRequestID: order.checkoutRequestId,
    ResponseCode: "0",
    ResponseDescription: ACCEPTED,
    CustomerMessage: ACCEPTED,
  });
}

/** POST /mpesa/stkpushquery/v1/query */
export function stkQuery({ organization, fields }: Call, { mpesa, player }: Context): Answer {
  checkPassword(organization, fields, fields.text("BusinessShortCode", /^\d{5,7}$/));
  const id = fields.text("CheckoutRequestID", /./);
  const order = mpesa.orders.find((one) => one.direction === "IN" && one.checkoutRequestId === id);
  if (order?.direction !== "IN" || order.organization !== organization) throw badRequest("CheckoutRequestID");
  player.queried(order);
  if (order.scenario.refusedOnce === "too many requests" && order.queries === 1) throw tooManyRequests();
  // The real rail says in one of two ways that an order is open.
  const code = order.scenario.queriesSay ?? order.outcome?.code ?? "4999";
  if (code === "4999" && order.queries % 2 === 1) {
    throw new Problem(500, "500.001.1001", "The transaction is being processed", { requestId: id });
  }
  return {
    body: {
      ResponseCode: "0",
      ResponseDescription: "The service request has been accepted successfully",
      MerchantRequestID: order.merchantRequestId,
      CheckoutRequestID: id,
      ResultCode: code,
      ResultDesc: RESULTS[code],
    },
  };
}

/** Password = base64(shortcode + passkey + timestamp), with the timestamp of the same body. */
function checkPassword(organization: Organization, fields: Fields, shortcode: string): void {
  const password = fields.text("Password", /./);
  const timestamp = fields.stamp("Timestamp");
  if (shortcode !== apiShortcodeOf(organization)) throw new Problem(500, "500.001.1001", "Merchant does not exist");
  const expected = Buffer.from(shortcode + organization.passkey + timestamp).toString("base64");
  if (password !== expected) throw new Problem(500, "500.001.1001", "Wrong credentials");
}

function promptCharacters({ amountCents, accountReference }: Collection): number {
  return PROMPT_WORDS_CHARACTERS + String(amountCents / 100).length + accountReference.length;
}

/** Whether a prompt is on the handset. A phone shows one at a time. */
function isLocked(msisdn: string, { clock, mpesa }: Context): boolean {
  const sinceMillis = clock.nowMillis() - PROMPT_MILLIS;
  return mpesa.orders.some(
    (order) =>
      order.direction === "IN" &&
      order.msisdn === msisdn &&
      order.outcome === undefined &&
      order.acceptedAtMillis > sinceMillis,
  );
}
