import { type Book, type Decision, type Lookup, type Operation, refuse } from "../decision.js";
import type { UnixMillis } from "../values/time.js";
import { type Endpoint, RETRIES_MAX, RETRY_ALL } from "../webhook-endpoint.js";
import { decideOnEndpoint, type EndpointCommand, lookupEndpoints, refusalOfEvent, unrecorded } from "./change.js";

export interface ResendWebhookDelivery extends EndpointCommand {
  readonly name: "resendWebhookDelivery";
  readonly seq: number;
}

export const resendWebhookDelivery: Operation<ResendWebhookDelivery, Endpoint> = {
  lookup,
  decide,
  inSuspension: "of operators",
};

function lookup(command: ResendWebhookDelivery, rows: Lookup): void {
  lookupEndpoints(command, rows);
  rows.need("webhookRetries", command.endpointId);
}

/**
 * Sends one event again, at once. Its tries begin again, so that it is not given up at once.
 *
 * Refuses, in this order: those of `decideOnEndpoint`, EVENT_NOT_FOUND, WEBHOOK_ENDPOINT_BUSY.
 */
function decide(book: Book, command: ResendWebhookDelivery, _now: UnixMillis, clock: UnixMillis): Decision<Endpoint> {
  return decideOnEndpoint(book, command, (endpoint) => {
    const { organizationId, endpointId, seq } = command;
    const refusal = refusalOfEvent(book, command, seq);
    if (refusal !== undefined) return refuse(refusal);
    const retries = book.webhookRetries(organizationId, endpointId);
    const known = retries.find((each) => each.seq === seq);
    if (known === undefined && retries.length >= RETRIES_MAX) {
      return refuse({ reason: "WEBHOOK_ENDPOINT_BUSY", endpointId });
    }
    const row = { organizationId, endpointId, seq, tries: 0, nextAt: clock, last: known?.last };
    const retryAt = endpoint.retryAt === RETRY_ALL ? RETRY_ALL : clock;
    return unrecorded({ ...endpoint, retryAt }, [{ table: "webhookRetries", row }]);
  });
}
