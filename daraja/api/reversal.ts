import type { ReversalRefusal } from "../mpesa/mpesa.js";
import { stamp } from "../mpesa/nairobi-time.js";
import { BUSINESS_NAME, PHONE_OWNER } from "../mpesa/names.js";
import type { Receipt } from "../mpesa/order.js";
import { receivedCentsOf } from "../mpesa/organization.js";
import { type ResultCode, RESULTS } from "../mpesa/results.js";
import { RESULT_AFTER_MILLIS } from "../mpesa/scenarios.js";
import type { Answer, Call, Context } from "./context.js";
import { checkShortcode } from "./fields.js";
import { initiatorFailure } from "./initiator.js";
import { looseCode, resultOf } from "./messages.js";

const CODES: Readonly<Record<ReversalRefusal, ResultCode>> = {
  UNKNOWN_RECEIPT: "R000002",
  REVERSED_ALREADY: "R000001",
  INSUFFICIENT_FUNDS: "1",
};

/** POST /mpesa/reversal/v1/request. The money moves with the result, which is a callback. */
export function reverse({ organization, fields }: Call, context: Context): Answer {
  const { clock, ids, mpesa, callbacks } = context;
  fields.text("CommandID", /^TransactionReversal$/);
  const number = fields.text("TransactionID", /^[A-Z0-9]{10}$/);
  const amountCents = fields.amountCents();
  checkShortcode(organization, fields, "ReceiverParty");
  fields.text("RecieverIdentifierType", organization.reversalIdentifierType === undefined ? /^(4|11)$/ : /^11$/);
  fields.text("Remarks", /^.{2,100}$/);
  fields.optionalText("Occasion", /^.{0,100}$/);
  fields.url("QueueTimeOutURL");
  const resultUrl = fields.url("ResultURL");
  const failure = initiatorFailure(organization, fields, "Initiator");
  const conversationId = ids.conversation(clock.nowMillis());
  const originatorConversationId = ids.originatorConversation();
  const paid = mpesa.receipts.find((one) => one.number === number && one.shortcode === organization.shortcode);
  const loses = paid?.scenario?.reversalLoses;

  clock.after(RESULT_AFTER_MILLIS, async () => {
    const end = failure ?? (paid?.amountCents === amountCents ? reversedBy(mpesa.reverse(number)) : "R000002");
    const code = typeof end === "string" ? end : "0";
    const result = resultOf({
      code: looseCode(code),
      text: RESULTS[code],
      conversationId,
      originatorConversationId,
      transactionId: typeof end === "string" ? ids.receipt(clock.nowMillis()) : end.number,
      parameters:
        typeof end === "string"
          ? undefined
          : [
              {
                Key: "DebitAccountBalance",
                Value: `Utility Account|KES|${String(receivedCentsOf(organization) / 100)}`,
              },
              { Key: "Amount", Value: amountCents / 100 },
              { Key: "TransCompletedTime", Value: stamp(end.atMillis) },
              { Key: "OriginalTransactionID", Value: number },
              { Key: "Charge", Value: 0 },
              { Key: "CreditPartyPublicName", Value: `${end.msisdn} - ${PHONE_OWNER.join(" ")}` },
              { Key: "DebitPartyPublicName", Value: `${organization.shortcode} - ${BUSINESS_NAME}` },
            ],
      referenceItem: { Key: "QueueTimeoutURL", Value: "" },
    });
    if (loses !== "the result") await callbacks.send(resultUrl, JSON.stringify(result));
  });
  return {
    body: {
      OriginatorConversationID: originatorConversationId,
      ConversationID: conversationId,
      ResponseCode: "0",
      ResponseDescription: "Accept the service request successfully.",
    },
    fault: loses === "the answer" && !mpesa.isReversed(number) ? "lost" : undefined,
  };
}

function reversedBy(end: Receipt | ReversalRefusal): Receipt | ResultCode {
  return typeof end === "string" ? CODES[end] : end;
}
