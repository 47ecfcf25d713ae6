import { type Book, type Decision, type Lookup, type Operation, refuse, replay } from "../decision.js";
import type { UnixMillis } from "../values/time.js";
import type { DeletedEndpoint } from "../webhook-endpoint.js";
import { type EndpointCommand, recorded } from "./change.js";

export interface DeleteWebhookEndpoint extends EndpointCommand {
  readonly name: "deleteWebhookEndpoint";
}

export const deleteWebhookEndpoint: Operation<DeleteWebhookEndpoint, DeletedEndpoint> = {
  lookup,
  decide,
  inSuspension: "of operators",
};

function lookup({ endpointId }: DeleteWebhookEndpoint, rows: Lookup): void {
  rows.need("webhookEndpoint", endpointId);
}

/**
 * Deletes an endpoint, with its secrets, its url, and what was not delivered. A second deletion is
 * a replay.
 *
 * Refuses: WEBHOOK_ENDPOINT_NOT_FOUND.
 */
function decide(book: Book, command: DeleteWebhookEndpoint, now: UnixMillis): Decision<DeletedEndpoint> {
  const { organizationId, endpointId } = command;
  const endpoint = book.webhookEndpoint(organizationId, endpointId);
  if (endpoint === undefined) return refuse({ reason: "WEBHOOK_ENDPOINT_NOT_FOUND", endpointId });
  if (endpoint.status === "DELETED") return replay(endpoint);
  const { id, revision, createdAt } = endpoint;
  const row = { id, organizationId, status: "DELETED", revision: revision + 1, createdAt } as const;
  return recorded<DeletedEndpoint>(book, command, "webhook_endpoint.deleted", { row, now });
}
