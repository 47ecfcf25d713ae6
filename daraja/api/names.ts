import { otherNetworkOf } from "../../runtime/kenyan-networks.js";
import { keep } from "../kept.js";
import { BUSINESS_NAME, PHONE_OWNER } from "../mpesa/names.js";
import { PAY_OUT, scenarioOf } from "../mpesa/scenarios.js";
import type { Answer, Call, Context } from "./context.js";
import { checkShortcode } from "./fields.js";
import { Problem } from "./problem.js";

/** A sample of Safaricom's page. */
const CHARGE_PROFILE = "20013";
const UNKNOWN_PARTY = "2040";

/**
 * POST /sfcverify/v1/query/info: the name of a paybill or a till. A number that no payout reaches,
 * by its ending, is unknown. Safaricom's page has 4000 as the success in its example, and 0 in its
 * table: the setting `org_info_success` decides.
 */
export function nameOfBusiness({ organization, fields }: Call, { ids, mpesa }: Context): Answer {
  fields.text("IdentifierType", /^[24]$/);
  const number = fields.text("Identifier", /^\d{5,7}$/);
  keep(mpesa.named, number);
  const ConversationID = ids.originatorConversation();
  if (isUnknown(number)) {
    const ResponseMessage = "Rejecting the request";
    return { body: { ConversationID, ResponseCode: "1", ResponseMessage, DetailedMessage: "No such organization" } };
  }
  return {
    body: {
      ConversationID,
      ResponseCode: organization.orgInfoSuccess,
      ResponseMessage: "Success",
      DetailedMessage: "Request received successfully",
      OrganizationShortCode: number,
      OrganizationName: `${BUSINESS_NAME} ${number}`,
      ChargeProfileID: CHARGE_PROFILE,
    },
  };
}

/**
 * POST /mpesa/b2c/hakikisha/v1/hakikisha: the name of a phone's owner, of which M-Pesa hides all
 * but the first one.
 */
export function nameOfPhone({ organization, fields }: Call, { mpesa }: Context): Answer {
  const header = fields.object("header");
  const body = fields.object("body");
  const requestID = header.text("requestID", /^\S{1,64}$/);
  // Epoch seconds in the example of a success, and the stamp of Nairobi in that of an error.
  const timestamp = header.text("timestamp", /^(\d{10}|\d{14})$/);
  const msisdn = body.msisdn("msisdn");
  checkShortcode(organization, body, "shortcode");
  keep(mpesa.named, msisdn);
  if (isUnknown(msisdn) || otherNetworkOf(msisdn) !== undefined) {
    const message = "The customer does not exist.";
    const told = { header: { requestID, timestamp, status: "400", message: "Error" }, body: { message } };
    throw new Problem(400, "400", message, {
      body: told,
      rule: "msisdn must be a customer's: M-Pesa knows no such number",
    });
  }
  const [firstName, ...others] = PHONE_OWNER;
  const [middleName, lastName] = others.map((name) => name.slice(0, 1) + "*".repeat(name.length - 1));
  return {
    body: {
      header: { requestID, timestamp, status: "200", message: "Success" },
      body: { firstName, middleName, lastName },
    },
  };
}

function isUnknown(number: string): boolean {
  return scenarioOf(PAY_OUT, number).steps.some((step) => step.kind === "fail" && step.code === UNKNOWN_PARTY);
}
