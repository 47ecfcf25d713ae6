import type { EventPattern } from "./event-types.js";
import type { Refusal } from "./refusal.js";
import { type Comparison, differingFields } from "./repeat.js";
import type { OrganizationId, WebhookEndpointId } from "./values/ids.js";
import type { UnixMillis } from "./values/time.js";
import { sameTypes } from "./webhook-changes.js";
import type { Endpoint } from "./webhook-endpoint.js";
import { earlierCall, type SecretCall } from "./webhook-secrets.js";

export const ENDPOINTS_MAX = 10;

/** Everything that a new endpoint needs. */
export interface NewEndpointValues extends SecretCall {
  readonly id: WebhookEndpointId;
  readonly organizationId: OrganizationId;
  readonly url: string;
  readonly types: readonly EventPattern[] | undefined;
  readonly description: string;
}

/**
 * Returns the endpoint of a creation: the one that an earlier call has made, or a new one. `all`
 * are the endpoints of the organization. `nextSeq` and `recordedAt` are those of its row in the
 * book.
 *
 * Refuses, in this order: IDEMPOTENCY_KEY_REUSED, WEBHOOK_ENDPOINT_ALREADY_EXISTS,
 * TOO_MANY_WEBHOOK_ENDPOINTS.
 */
export function createdEndpoint(
  given: NewEndpointValues,
  all: readonly Endpoint[],
  { nextSeq, recordedAt }: { readonly nextSeq: number; readonly recordedAt: UnixMillis },
): { readonly endpoint: Endpoint; readonly isNew: boolean } | Refusal {
  const before = earlierCall(given, all);
  if (before !== undefined) {
    return before.isSame ? { endpoint: before.endpoint, isNew: false } : { reason: "IDEMPOTENCY_KEY_REUSED" };
  }
  const { id, organizationId, url, types, description, secret } = given;
  const existing = all.find((each) => each.url === url);
  if (existing !== undefined) {
    const differing = differingFields(COMPARISON, given, existing, undefined);
    if (differing.length === 0) return { endpoint: existing, isNew: false };
    return { reason: "WEBHOOK_ENDPOINT_ALREADY_EXISTS", endpointId: existing.id, differingFields: differing };
  }
  if (all.length >= ENDPOINTS_MAX) return { reason: "TOO_MANY_WEBHOOK_ENDPOINTS", limit: ENDPOINTS_MAX };
  const endpoint: Endpoint = {
    id,
    organizationId,
    url,
    description,
    types,
    status: "ACTIVE",
    disabledReason: undefined,
    revision: 1,
    secrets: [secret],
    settledSeq: nextSeq,
    replay: undefined,
    failures: 0,
    failingSince: undefined,
    probeAt: undefined,
    createdAt: recordedAt,
    updatedAt: recordedAt,
  };
  return { endpoint, isNew: true };
}

const COMPARISON: Comparison<NewEndpointValues, Endpoint, undefined> = {
  id: "no content",
  now: "no content",
  secret: "no content",
  url: ["url", ({ url }, existing) => url === existing.url],
  types: ["types", ({ types }, existing) => sameTypes(types, existing.types)],
  description: ["description", ({ description }, existing) => description === existing.description],
};
