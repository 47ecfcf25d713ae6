import { asText, type Fields } from "../fields.js";
import type { Sent } from "../rail.js";
import type { DarajaAnswer } from "./daraja/client.js";
import { responseCodeOf } from "./messages.js";
import type { RefusedRequest } from "./result-codes.js";

/**
 * Says what the answer to a request that moves money proves. `accepted` reads the body of an answer
 * with ResponseCode 0, which means accepted and not paid.
 */
export function sentOf(
  answer: DarajaAnswer,
  { accepted, refused }: { accepted: (body: Fields) => Sent; refused: readonly RefusedRequest[] },
): Sent {
  if (answer.kind !== "answered") return answer;
  const { isOk, code, message, body } = answer;
  if (isOk) {
    const responseCode = responseCodeOf(body);
    return responseCode === "0" ? accepted(body) : { kind: "unknown", code: responseCode ?? "MALFORMED_ANSWER" };
  }
  const refusal = refused.find((known) => known.code === code && known.message.test(message));
  if (refusal === undefined) return { kind: "unknown", code };
  const { retryAfterMillis } = refusal;
  return retryAfterMillis === undefined
    ? { kind: "rejected", code, failure: "RAIL_REFUSED" }
    : { kind: "unreached", code, retryAfterMillis };
}

/** The same for an answer that must have the rail's name for the order. */
export function acceptedAs(name: unknown): Sent {
  const railReference = asText(name);
  return railReference === undefined
    ? { kind: "unknown", code: "MALFORMED_ANSWER" }
    : { kind: "accepted", railReference };
}
