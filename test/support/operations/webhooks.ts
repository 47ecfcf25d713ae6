import { WEBHOOKS } from "../../../src/domain/values/actor.js";
import type { OrganizationId, WebhookEndpointId } from "../../../src/domain/values/ids.js";
import type { Description } from "../../../src/domain/values/text.js";
import type { KeyedRequest } from "../../../src/domain/webhook-endpoint.js";
import { build, type CommandOf, type Given } from "../commands.js";
import { newId, NOW } from "../names.js";
import type { ExampleBook, OperationRows } from "./row.js";

const newWebhookEndpointId = (): WebhookEndpointId => newId("whe") as WebhookEndpointId;

export function createWebhookEndpoint(
  organizationId: OrganizationId,
  given: Given<"createWebhookEndpoint"> = {},
): CommandOf<"createWebhookEndpoint"> {
  return build("createWebhookEndpoint", organizationId, {
    newEndpointId: newWebhookEndpointId(),
    url: "https://example.com/hooks",
    types: undefined,
    description: "" as Description,
    secret: { base64: "c2VjcmV0", validUntil: undefined },
    at: NOW,
    ...given,
  });
}

export function updateWebhookEndpoint(
  organizationId: OrganizationId,
  endpointId: WebhookEndpointId,
  changes: Given<"updateWebhookEndpoint">,
): CommandOf<"updateWebhookEndpoint"> {
  const same = { url: undefined, types: undefined, description: undefined, status: undefined, etag: undefined };
  return build("updateWebhookEndpoint", organizationId, { endpointId, ...same, ...changes });
}

export function rotateWebhookSecret(
  organizationId: OrganizationId,
  endpointId: WebhookEndpointId,
  given: Given<"rotateWebhookSecret"> = {},
): CommandOf<"rotateWebhookSecret"> {
  const secret = { base64: "bmV3", validUntil: undefined };
  return build("rotateWebhookSecret", organizationId, { endpointId, secret, at: NOW, ...given });
}

export function resendWebhookDelivery(
  organizationId: OrganizationId,
  endpointId: WebhookEndpointId,
  seq: number,
): CommandOf<"resendWebhookDelivery"> {
  return build("resendWebhookDelivery", organizationId, { endpointId, seq });
}

export function replayWebhookEvents(
  organizationId: OrganizationId,
  endpointId: WebhookEndpointId,
  [startSeq, endSeq]: readonly [number, number | undefined],
): CommandOf<"replayWebhookEvents"> {
  return build("replayWebhookEvents", organizationId, { endpointId, startSeq, endSeq });
}

/** Of the revision that a new endpoint has, unless told otherwise. */
export function disableWebhookEndpoint(
  organizationId: OrganizationId,
  endpointId: WebhookEndpointId,
  given: Given<"disableWebhookEndpoint"> = {},
): CommandOf<"disableWebhookEndpoint"> {
  const fields = { actor: WEBHOOKS, endpointId, disabledReason: "GONE", revision: 1, ...given } as const;
  return build("disableWebhookEndpoint", organizationId, fields);
}

export function deleteWebhookEndpoint(
  organizationId: OrganizationId,
  endpointId: WebhookEndpointId,
): CommandOf<"deleteWebhookEndpoint"> {
  return build("deleteWebhookEndpoint", organizationId, { endpointId });
}

const keyed: KeyedRequest = { key: "a", content: "rotate", at: NOW };
const made = ({ of }: ExampleBook): WebhookEndpointId => of("createWebhookEndpoint").newEndpointId;

/** The operations on webhook endpoints. */
export const ON_WEBHOOKS = {
  createWebhookEndpoint: { example: ({ organizationId }) => createWebhookEndpoint(organizationId) },
  updateWebhookEndpoint: {
    example: (book) => updateWebhookEndpoint(book.organizationId, made(book), { description: "other" as Description }),
  },
  rotateWebhookSecret: {
    example: (book) => {
      const secret = { base64: "bmV3", validUntil: undefined, keyed };
      return rotateWebhookSecret(book.organizationId, made(book), { secret });
    },
  },
  resendWebhookDelivery: {
    // Each asks for one more delivery.
    repeated: "effect",
    example: (book) => resendWebhookDelivery(book.organizationId, made(book), 1),
  },
  replayWebhookEvents: { example: (book) => replayWebhookEvents(book.organizationId, made(book), [1, 3]) },
  disableWebhookEndpoint: {
    example: (book) => disableWebhookEndpoint(book.organizationId, made(book), { revision: 6 }),
  },
  deleteWebhookEndpoint: { example: (book) => deleteWebhookEndpoint(book.organizationId, made(book)) },
} satisfies Partial<OperationRows>;
