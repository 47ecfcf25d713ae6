import { asText, type Fields } from "../fields.js";
import type { Faulty, RailFault, Sent } from "../rail.js";
import { type DarajaRequest, NO_CODE, type ReadAnswer, readAnswer } from "./answers.js";
import type { DarajaAnswer } from "./daraja/client.js";
import { faultOf } from "./messages.js";

/** The request that was answered, and its path. */
interface AskedRequest {
  readonly of: DarajaRequest;
  readonly path: string;
}

const TOKEN_AGAIN_MILLIS = 30_000;

/**
 * Says what the answer to a request that moves money proves. `accepted` reads the body of an answer
 * that says "taken", which means accepted and not paid.
 */
export function sentOf(
  answer: DarajaAnswer,
  { accepted, ...asked }: AskedRequest & { readonly accepted: (body: Fields) => Sent },
): Sent {
  const { path: place } = asked;
  // A code of the network tells nothing that M-Pesa has said.
  if (answer.kind !== "answered") return answer;
  const read = readAnswer(answer, asked.of);
  const { reading, code, retryAfterMillis } = read;
  const fault = faultOf(requestFault(read, asked));
  switch (reading) {
    case "taken":
      return accepted(answer.body);
    case "not now":
      return { kind: "unreached", code, retryAfterMillis };
    case "turned away":
      return { kind: "unreached", code, retryAfterMillis, isTurnedAway: true };
    case "token refused":
    case "app refused":
      return { kind: "unreached", code, retryAfterMillis: TOKEN_AGAIN_MILLIS };
    case "asked wrongly":
    case "no product":
      return { kind: "rejected", code, failure: "RAIL_REFUSED", place, ...fault };
    case "unknown":
      return { kind: "unknown", code, place, ...fault };
  }
}

/** Reads an answer that takes the order. It must have the rail's name for the order. */
export function acceptedAs(name: unknown, place: string): Sent {
  const railReference = asText(name);
  return railReference === undefined
    ? { kind: "unknown", code: "MALFORMED_ANSWER", place }
    : { kind: "accepted", railReference };
}

/**
 * Says what the answer to a question proves, whose result comes with a message. Undefined if
 * Daraja has taken it. What says that the question is wrong says nothing of what it asks.
 */
export function notAsked(
  answer: DarajaAnswer,
  asked: AskedRequest,
): ({ readonly code: string; readonly place?: string } & Faulty) | undefined {
  if (answer.kind !== "answered") return { code: answer.code, ...faultOf(answer.fault) };
  const read = readAnswer(answer, asked.of);
  if (read.reading === "taken") return undefined;
  const fault = requestFault(read, asked);
  // Only a fault lasts. What is unknown or too much now says nothing later.
  return { code: read.code, ...(fault === undefined ? {} : { fault, place: asked.path }) };
}

/** What the answer says of the account: the service asks wrongly, or may not ask this. */
function requestFault({ reading, code }: ReadAnswer, { path: request }: AskedRequest): RailFault | undefined {
  // Without a code no result ever comes.
  const isFault = reading === "asked wrongly" || reading === "no product" || code === NO_CODE;
  return isFault ? { kind: "request", request, code } : undefined;
}
