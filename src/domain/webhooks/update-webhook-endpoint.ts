import { type Book, type Decision, type Operation, refuse, replay } from "../decision.js";
import type { EventTypes } from "../event-types.js";
import type { Description } from "../values/text.js";
import type { UnixMillis } from "../values/time.js";
import { type Endpoint, type EndpointStatus, etagOf, RETRY_ALL } from "../webhook-endpoint.js";
import { decideOnEndpoint, type EndpointCommand, lookupEndpoints, recorded } from "./change.js";

/** Changes an endpoint. A field that is undefined stays as it is. */
export interface UpdateWebhookEndpoint extends EndpointCommand {
  readonly name: "updateWebhookEndpoint";
  readonly url: string | undefined;
  readonly types: EventTypes | undefined;
  readonly description: Description | undefined;
  readonly status: Exclude<EndpointStatus, "DISABLED"> | undefined;
  /** The version that the caller has read. Undefined: any. */
  readonly etag: string | undefined;
}

export const updateWebhookEndpoint: Operation<UpdateWebhookEndpoint, Endpoint> = {
  lookup: lookupEndpoints,
  decide,
  inSuspension: "of operators",
};

/**
 * Gives an endpoint new values. If it has them already, the decision is a replay, whatever the
 * etag. One that becomes active begins as if it had never failed, and what waits for another try
 * goes out at once.
 *
 * Refuses, in this order: those of `decideOnEndpoint`, ETAG_MISMATCH,
 * WEBHOOK_ENDPOINT_ALREADY_EXISTS.
 */
function decide(book: Book, command: UpdateWebhookEndpoint, now: UnixMillis): Decision<Endpoint> {
  return decideOnEndpoint(book, command, (endpoint) => {
    const { url = endpoint.url, description = endpoint.description, status = endpoint.status } = command;
    const types = command.types === undefined ? endpoint.types : command.types.only;
    const isSame = url === endpoint.url && description === endpoint.description && status === endpoint.status;
    if (isSame && sameTypes(types, endpoint.types)) return replay(endpoint);
    const etag = etagOf(endpoint);
    if (command.etag !== undefined && command.etag !== etag) return refuse({ reason: "ETAG_MISMATCH", etag });
    const other = book.webhookEndpoints(command.organizationId).find((each) => each.url === url);
    if (other !== undefined && other.id !== endpoint.id) {
      return refuse({ reason: "WEBHOOK_ENDPOINT_ALREADY_EXISTS", endpointId: other.id, differingFields: [] });
    }
    const revision = endpoint.revision + 1;
    const row = { ...endpoint, ...inStatus(endpoint, status), url, description, types, revision };
    return recorded<Endpoint>(book, command, "webhook_endpoint.updated", { row, now });
  });
}

/** Returns what a new status changes. A caller may pause what the service has disabled. */
function inStatus(endpoint: Endpoint, status: EndpointStatus): Partial<Endpoint> {
  if (status === "PAUSED") return { status, disabledReason: undefined };
  if (status === endpoint.status) return {};
  const neverFailed = { failures: 0, failingSince: undefined, probeAt: undefined, disabledReason: undefined };
  return { status, ...neverFailed, retryAt: RETRY_ALL };
}

export function sameTypes(left: readonly string[] | undefined, right: readonly string[] | undefined): boolean {
  return JSON.stringify(left) === JSON.stringify(right);
}
