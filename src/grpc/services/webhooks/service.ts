import { hash, randomBytes } from "node:crypto";

import { parseEventTypes } from "../../../domain/event-types.js";
import { parseWebhookEndpointId } from "../../../domain/values/ids.js";
import { parseDescription } from "../../../domain/values/text.js";
import { toUnixMillis, type UnixMillis } from "../../../domain/values/time.js";
import type { EndpointSecret } from "../../../domain/webhook-endpoint.js";
import { OLD_SECRET_MILLIS, shownSecretOf } from "../../../domain/webhooks/secrets.js";
import * as wire from "../../../gen/kesc/v1/webhook_service.js";
import { parseWebhookUrl } from "../../../webhooks/allowed.js";
import { SECRET_BYTES, TESTS_MAX } from "../../../webhooks/limits.js";
import type { Caller } from "../../calls/call-context.js";
import { done, refuse } from "../../calls/rpc-result.js";
import { unary, type UnaryRoute } from "../../calls/unary-call.js";
import { fields, fieldsOf, KINDS } from "../../messages/field-kinds.js";
import { fieldProblem, ifPresent, parseFields } from "../../messages/fields.js";
import { toTimestamp } from "../../messages/timestamp.js";
import { formatPageToken, LIST_KINDS, listOf } from "../paging.js";
import { authorOf, submit } from "../submit.js";
import {
  listUndeliveredEvents,
  listWebhookDeliveries,
  replayWebhookEvents,
  resendWebhookDelivery,
} from "./deliveries.js";
import { endpointResponse, parseEndpointStatus, toDeliveryMessage, toEndpointMessage } from "./message.js";
import { notFound, readEndpoints, type WebhookHandlersOptions } from "./reads.js";

/**
 * The rpcs of kesc.v1.WebhookService. An rpc of the contract without a handler does not compile.
 */
export function webhookHandlers(options: WebhookHandlersOptions): Record<keyof wire.WebhookServiceService, UnaryRoute> {
  return {
    createWebhookEndpoint: createWebhookEndpoint(options),
    getWebhookEndpoint: getWebhookEndpoint(options),
    listWebhookEndpoints: listWebhookEndpoints(options),
    updateWebhookEndpoint: updateWebhookEndpoint(options),
    deleteWebhookEndpoint: deleteWebhookEndpoint(options),
    rotateWebhookSecret: rotateWebhookSecret(options),
    sendTestEvent: sendTestEvent(options),
    listWebhookDeliveries: listWebhookDeliveries(options),
    listUndeliveredEvents: listUndeliveredEvents(options),
    resendWebhookDelivery: resendWebhookDelivery(options),
    replayWebhookEvents: replayWebhookEvents(options),
  };
}

/** Makes a secret. With an idempotency key, a call with the same content can get it again. */
function newSecret({ idempotencyKey: key }: Caller, content: readonly unknown[], at: UnixMillis): EndpointSecret {
  const base64 = randomBytes(SECRET_BYTES).toString("base64");
  const keyed = key && { key: hash("sha256", key), content: hash("sha256", JSON.stringify([key, ...content])), at };
  return { base64, validUntil: undefined, keyed };
}

function createWebhookEndpoint({
  cellOf,
  newWebhookEndpointId,
  webhookHosts,
  now,
}: WebhookHandlersOptions): UnaryRoute {
  return unary({
    request: wire.CreateWebhookEndpointRequest,
    response: wire.CreateWebhookEndpointResponse,
    ...fieldsOf({ ...KINDS, types: parseEventTypes, url: (url: string) => parseWebhookUrl(url, webhookHosts) })(
      "url",
      "types",
      "description",
    ),
    run: ({ types, ...content }, caller) => {
      const at = now();
      const secret = newSecret(caller, ["create", content, types?.only ?? null], at);
      const given = { newEndpointId: newWebhookEndpointId(), ...content, types: types?.only, secret, at };
      const command = { name: "createWebhookEndpoint", ...authorOf(caller), ...given } as const;
      return submit(cellOf, caller, command, (endpoint) => ({
        webhook_endpoint: toEndpointMessage(endpoint, shownSecretOf(endpoint, secret)),
      }));
    },
  });
}

function getWebhookEndpoint(options: WebhookHandlersOptions): UnaryRoute {
  return unary({
    request: wire.GetWebhookEndpointRequest,
    response: wire.GetWebhookEndpointResponse,
    ...fields("webhook_endpoint_id"),
    run: async ({ webhookEndpointId: id }, caller) => {
      const endpoints = await readEndpoints(options, caller);
      if ("reason" in endpoints) return refuse(endpoints);
      const endpoint = endpoints.find((each) => each.id === id);
      return endpoint === undefined ? notFound(id) : done({ webhook_endpoint: toEndpointMessage(endpoint) });
    },
  });
}

function listWebhookEndpoints(options: WebhookHandlersOptions): UnaryRoute {
  return unary({
    request: wire.ListWebhookEndpointsRequest,
    response: wire.ListWebhookEndpointsResponse,
    ...listOf("ListWebhookEndpoints", fieldsOf(LIST_KINDS)("page_size", "page_token")),
    run: async ({ list, page: { size, beforeSeq } }, caller) => {
      const endpoints = await readEndpoints(options, caller);
      if ("reason" in endpoints) return refuse(endpoints);
      // A token counts the older endpoints: after a deletion between two pages, one can come twice,
      // but none is left out.
      const from = beforeSeq === undefined ? 0 : Math.max(0, endpoints.length - beforeSeq);
      const older = endpoints.length - from - size;
      return done({
        webhook_endpoints: endpoints.slice(from, from + size).map((endpoint) => toEndpointMessage(endpoint)),
        next_page_token: formatPageToken(list, older > 0 ? older : undefined),
      });
    },
  });
}

function updateWebhookEndpoint({ cellOf, webhookHosts }: WebhookHandlersOptions): UnaryRoute {
  return unary({
    request: wire.UpdateWebhookEndpointRequest,
    response: wire.UpdateWebhookEndpointResponse,
    parse: (request) => {
      const given = parseFields({
        webhook_endpoint_id: parseWebhookEndpointId(request.webhook_endpoint_id),
        url: ifPresent(request.url, (url) => parseWebhookUrl(url, webhookHosts)),
        types: parseEventTypes(request.types),
        description: ifPresent(request.description, parseDescription),
        status: parseEndpointStatus(request.status),
      });
      if (!given.ok) return given;
      const { webhook_endpoint_id: endpointId, ...changes } = given.value;
      const { etag } = request;
      if (Object.values(changes).every((change) => change === undefined)) {
        return fieldProblem("url", "is required if types, description and status are absent", "REQUIRED");
      }
      return { ok: true, value: { endpointId, etag, ...changes } };
    },
    run: (given, caller) =>
      submit(cellOf, caller, { name: "updateWebhookEndpoint", ...authorOf(caller), ...given }, endpointResponse),
  });
}

function deleteWebhookEndpoint({ cellOf }: WebhookHandlersOptions): UnaryRoute {
  return unary({
    request: wire.DeleteWebhookEndpointRequest,
    response: wire.DeleteWebhookEndpointResponse,
    ...fields("webhook_endpoint_id"),
    run: ({ webhookEndpointId: endpointId }, caller) =>
      submit(cellOf, caller, { name: "deleteWebhookEndpoint", ...authorOf(caller), endpointId }, () => ({})),
  });
}

function rotateWebhookSecret({ cellOf, now }: WebhookHandlersOptions): UnaryRoute {
  return unary({
    request: wire.RotateWebhookSecretRequest,
    response: wire.RotateWebhookSecretResponse,
    ...fields("webhook_endpoint_id"),
    run: ({ webhookEndpointId: endpointId }, caller) => {
      const at = now();
      const secret = newSecret(caller, ["rotate", endpointId], at);
      const command = { name: "rotateWebhookSecret", ...authorOf(caller), endpointId, secret, at } as const;
      return submit(cellOf, caller, command, (endpoint) => {
        const made = shownSecretOf(endpoint, secret);
        return {
          webhook_endpoint: toEndpointMessage(endpoint, made),
          previous_valid_until: toTimestamp(toUnixMillis((made?.keyed?.at ?? at) + OLD_SECRET_MILLIS)),
        };
      });
    },
  });
}

function sendTestEvent({ cellOf, listTurns }: WebhookHandlersOptions): UnaryRoute {
  return unary({
    request: wire.SendTestEventRequest,
    response: wire.SendTestEventResponse,
    ...fields("webhook_endpoint_id"),
    run: async ({ webhookEndpointId: id }, caller) => {
      const { endpoints, tests } = cellOf(caller.organization).webhooks;
      const page = await listTurns.page(caller, async () => {
        const endpoint = await endpoints.endpoint(caller.organization.id, id);
        return { endpoint, rows: [], lookedAt: 1 };
      });
      if ("reason" in page) return refuse(page);
      const { endpoint } = page;
      if (endpoint === undefined) return notFound(id);
      if (endpoint.disabledReason === "CHANGED") return refuse({ reason: "WEBHOOK_ENDPOINT_CHANGED", endpointId: id });
      const attempt = await tests.send(endpoint, caller.deadline);
      if (attempt === undefined) return refuse({ reason: "TOO_MANY_WEBHOOK_TESTS", limit: TESTS_MAX });
      return done({ delivery: toDeliveryMessage(attempt) });
    },
  });
}
