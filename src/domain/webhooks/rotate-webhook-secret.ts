import { type Book, type Decision, type Operation, refuse, replay } from "../decision.js";
import { toUnixMillis, type UnixMillis } from "../values/time.js";
import type { Endpoint } from "../webhook-endpoint.js";
import { decideOnEndpoint, type EndpointCommand, lookupEndpoints, recorded } from "./change.js";
import { earlierCall, OLD_SECRET_MILLIS, type SecretCall } from "./secrets.js";

const SECRETS_MAX = 4;

export interface RotateWebhookSecret extends EndpointCommand, SecretCall {
  readonly name: "rotateWebhookSecret";
}

export const rotateWebhookSecret: Operation<RotateWebhookSecret, Endpoint> = {
  lookup: lookupEndpoints,
  decide,
  inSuspension: "of operators",
};

/**
 * Adds a secret. Those that still sign do so for a day at most. A call with the same idempotency
 * key is a replay.
 *
 * Refuses, in this order: those of `decideOnEndpoint`, IDEMPOTENCY_KEY_REUSED.
 */
function decide(book: Book, command: RotateWebhookSecret, now: UnixMillis): Decision<Endpoint> {
  return decideOnEndpoint(book, command, (endpoint) => {
    const { organizationId, secret, at } = command;
    const before = earlierCall(command, book.webhookEndpoints(organizationId));
    if (before !== undefined) return before.isSame ? replay(endpoint) : refuse({ reason: "IDEMPOTENCY_KEY_REUSED" });
    const oldValidUntil = toUnixMillis(at + OLD_SECRET_MILLIS);
    const old = endpoint.secrets
      .filter(({ validUntil = Infinity }) => validUntil > at)
      .map((each) => ({ ...each, validUntil: each.validUntil ?? oldValidUntil }));
    const secrets = [secret, ...old].slice(0, SECRETS_MAX);
    const row = { ...endpoint, secrets, revision: endpoint.revision + 1 };
    return recorded<Endpoint>(book, command, "webhook_endpoint.updated", { row, now });
  });
}
