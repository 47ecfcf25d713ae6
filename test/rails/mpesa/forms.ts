import type { AnswerReading } from "../../../src/rails/mpesa/answers.js";
import { answering, type Respond } from "./stub-server.js";

const TAKEN = { ConversationID: "AG_1", OriginatorConversationID: "1-2-3", CheckoutRequestID: "ws_CO_1" };
const EMPTY = { OriginatorConversationID: "", ConversationID: "", ResponseCode: "", ResponseDescription: "" };

function error(httpStatus: number, errorCode: string, errorMessage = "an error"): Respond {
  return answering(httpStatus, { requestId: "1c5b-4ba8-815c-ac45c57a3db0", errorCode, errorMessage });
}

function fault(httpStatus: number, errorcode: string, faultstring: string): Respond {
  return answering(httpStatus, { fault: { faultstring, detail: { errorcode } } });
}

const NO_PRODUCT = "Invalid API call as no apiproduct match found";

/** The forms of answers that were seen, to any request for an order. */
export const SENDING: readonly (readonly [what: string, respond: Respond, reading: AnswerReading, code?: string])[] = [
  ["an acknowledgement", answering(200, { ...TAKEN, ResponseCode: "0" }), "taken"],
  ["one with a number", answering(200, { ...TAKEN, ResponseCode: 0 }), "taken"],
  ["one with eight zeros", answering(200, { ...TAKEN, ResponseCode: "00000000" }), "taken"],
  ["one whose names have blanks", answering(200, { ...TAKEN, "Response Code": "0" }), "taken"],
  ["one whose fields are empty", answering(200, EMPTY), "unknown", "NO_RESPONSE_CODE"],
  ["one without a code", answering(200, { ResponseDescription: "ok" }), "unknown", "NO_RESPONSE_CODE"],
  ["a missing product", error(401, "401.003.01", NO_PRODUCT), "no product", "401.003.01"],
  [
    "the same by Apigee",
    fault(401, "keymanagement.service.InvalidAPICallAsNoApiProductMatchFound", NO_PRODUCT),
    "no product",
    "InvalidAPICallAsNoApiProductMatchFound",
  ],
  ["a path that is none", error(404, "404.001.01", "Resource not found"), "asked wrongly", "404.001.01"],
  ["a malformed request", error(400, "400.002.05", "Invalid Request Payload"), "asked wrongly", "400.002.05"],
  ["a missing field", answering(200, { ResponseCode: "24" }), "asked wrongly", "24"],
  ["a page of a gateway", answering(404, "<html>Not Found</html>"), "asked wrongly", "HTTP_404"],
  ["JSON without a code", answering(400, {}), "asked wrongly", "HTTP_400"],
  ["the page of the firewall", answering(403, "<html>Forbidden</html>"), "not now", "HTTP_403"],
  ["maintenance", error(503, "00.002.1001"), "not now", "00.002.1001"],
  ["too many requests", answering(429, "<html>Too Many Requests</html>"), "turned away", "HTTP_429"],
  ["too many requests, with a code", error(429, "500.003.02", "Spike Arrest"), "turned away", "500.003.02"],
  [
    "too many requests, by Apigee",
    fault(429, "policies.ratelimit.SpikeArrestViolation", "Spike arrest violation"),
    "turned away",
    "SpikeArrestViolation",
  ],
  ["an overload", answering(200, { ResponseCode: "100000001" }), "turned away", "100000001"],
  ["a request that is cached", answering(200, { ResponseCode: "100000000" }), "unknown", "100000000"],
  [
    "a token that is refused twice",
    error(404, "404.001.03", "Invalid Access Token"),
    "token refused",
    "TOKEN_404.001.03",
  ],
  [
    "the same by Apigee",
    fault(401, "oauth.v2.InvalidAccessToken", "Invalid Access Token"),
    "token refused",
    "TOKEN_InvalidAccessToken",
  ],
  ["an error inside M-Pesa", error(500, "500.003.1001", "Internal Server Error"), "unknown", "500.003.1001"],
  ["a page of a proxy", answering(502, "<html>Bad Gateway</html>"), "unknown", "HTTP_502"],
  [
    "a gateway that lost the answer",
    fault(504, "messaging.adaptors.http.flow.GatewayTimeout", "Gateway Timeout"),
    "unknown",
    "GatewayTimeout",
  ],
];
