import type { ApiKey } from "../../domain/api-key.js";
import type { Actor } from "../../domain/journal.js";
import type { Outcome } from "../../ledger/ports/outcome.js";
import type { Answer } from "./unary-call.js";

/** The answer to a read, or to anything that is never a replay. */
export function done<Response>(response: Response): Answer<Response> {
  return { kind: "done", response, replayed: false };
}

/** The answer to a command. */
export function answerOf<Resource, Response>(
  outcome: Outcome<Resource>,
  responseOf: (resource: Resource) => Response,
): Answer<Response> {
  return outcome.kind === "done"
    ? { kind: "done", response: responseOf(outcome.resource), replayed: outcome.replayed }
    : outcome;
}

/** Who the journal says did it. */
export function actorOf(key: ApiKey): Actor {
  return key.id as string as Actor;
}
