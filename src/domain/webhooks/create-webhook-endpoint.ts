import type { Commanded } from "../authority.js";
import { type Book, type Decision, type Operation, refuse, replay } from "../decision.js";
import type { EventPattern } from "../event-types.js";
import { type Comparison, differingFields } from "../repeat.js";
import type { WebhookEndpointId } from "../values/ids.js";
import type { Description } from "../values/text.js";
import type { UnixMillis } from "../values/time.js";
import { type Endpoint, ENDPOINTS_MAX } from "../webhook-endpoint.js";
import { lookupEndpoints, recorded } from "./change.js";
import { earlierCall, type SecretCall } from "./secrets.js";
import { sameTypes } from "./update-webhook-endpoint.js";

export interface CreateWebhookEndpoint extends Commanded, SecretCall {
  readonly name: "createWebhookEndpoint";
  readonly newEndpointId: WebhookEndpointId;
  readonly url: string;
  /** Undefined for all. */
  readonly types: readonly EventPattern[] | undefined;
  readonly description: Description;
}

export const createWebhookEndpoint: Operation<CreateWebhookEndpoint, Endpoint> = {
  lookup: lookupEndpoints,
  decide,
  inSuspension: "of operators",
};

/**
 * Creates an endpoint. It gets the events after its own row. A call with the same idempotency key
 * is a replay, and so is one with the url and the content of an endpoint.
 *
 * Refuses, in this order: IDEMPOTENCY_KEY_REUSED, WEBHOOK_ENDPOINT_ALREADY_EXISTS,
 * TOO_MANY_WEBHOOK_ENDPOINTS.
 */
function decide(book: Book, command: CreateWebhookEndpoint, now: UnixMillis): Decision<Endpoint> {
  const { organizationId, newEndpointId: id, url, types, description, secret } = command;
  const all = book.webhookEndpoints(organizationId);
  const before = earlierCall(command, all);
  if (before !== undefined) {
    return before.isSame ? replay(before.endpoint) : refuse({ reason: "IDEMPOTENCY_KEY_REUSED" });
  }
  const existing = all.find((each) => each.url === url);
  if (existing !== undefined) {
    const differing = differingFields(COMPARISON, command, existing, undefined);
    if (differing.length === 0) return replay(existing);
    return refuse({
      reason: "WEBHOOK_ENDPOINT_ALREADY_EXISTS",
      endpointId: existing.id,
      differingFields: differing,
    });
  }
  if (all.length >= ENDPOINTS_MAX) return refuse({ reason: "TOO_MANY_WEBHOOK_ENDPOINTS", limit: ENDPOINTS_MAX });
  const row = {
    id,
    organizationId,
    url,
    description,
    types,
    status: "ACTIVE",
    disabledReason: undefined,
    revision: 1,
    secrets: [secret],
    settledSeq: book.bookOf(organizationId).lastSeq + 1,
    replay: undefined,
    failures: 0,
    failingSince: undefined,
    probeAt: undefined,
    retryAt: undefined,
    createdAt: now,
  } as const;
  return recorded<Endpoint>(book, command, "webhook_endpoint.created", { row, now });
}

const COMPARISON: Comparison<CreateWebhookEndpoint, Endpoint, undefined> = {
  at: "no content",
  secret: "no content",
  url: ["url", ({ url }, existing) => url === existing.url],
  types: ["types", ({ types }, existing) => sameTypes(types, existing.types)],
  description: ["description", ({ description }, existing) => description === existing.description],
};
