import { type Book, type Decision, type Operation, replay } from "../decision.js";
import type { UnixMillis } from "../values/time.js";
import type { DisabledReason, Endpoint } from "../webhook-endpoint.js";
import { decideOnEndpoint, type EndpointCommand, lookupEndpoints, recorded } from "./change.js";

/** The deliveries disable an endpoint that fails. Nobody else does. */
export interface DisableWebhookEndpoint extends EndpointCommand {
  readonly name: "disableWebhookEndpoint";
  readonly disabledReason: DisabledReason;
  /** The revision that the deliveries know. */
  readonly revision: number;
}

export const disableWebhookEndpoint: Operation<DisableWebhookEndpoint, Endpoint> = {
  lookup: lookupEndpoints,
  decide,
  inSuspension: "always",
  // A receiver that is gone gets no events meanwhile.
  isForAnyClock: true,
};

/**
 * Disables an endpoint. One that is not active any more, or that somebody has changed meanwhile,
 * stays as it is.
 *
 * Refuses, in this order: those of `decideOnEndpoint`.
 */
function decide(book: Book, command: DisableWebhookEndpoint, now: UnixMillis): Decision<Endpoint> {
  return decideOnEndpoint(book, command, (endpoint) => {
    const { disabledReason, revision } = command;
    if (endpoint.status !== "ACTIVE" || endpoint.revision !== revision) return replay(endpoint);
    const row = { ...endpoint, status: "DISABLED", disabledReason, revision: revision + 1 } as const;
    return recorded<Endpoint>(book, command, "webhook_endpoint.disabled", { row, now });
  });
}
