import { hash, randomBytes } from "node:crypto";

import { parseEventTypes } from "../../../domain/event-types.js";
import { parseWebhookEndpointId } from "../../../domain/values/ids.js";
import { parseDescription } from "../../../domain/values/text.js";
import { toUnixMillis, type UnixMillis } from "../../../domain/values/time.js";
import type { Endpoint, EndpointSecret } from "../../../domain/webhook-endpoint.js";
import { OLD_SECRET_MILLIS } from "../../../domain/webhook-secrets.js";
import * as wire from "../../../gen/kesc/v1/webhook_service.js";
import { parseWebhookUrl } from "../../../webhooks/allowed.js";
import { SECRET_BYTES, TESTS_MAX } from "../../../webhooks/limits.js";
import type { Caller } from "../../calls/call-context.js";
import { done, refuse, resultOf } from "../../calls/rpc-result.js";
import { unary, type UnaryRoute } from "../../calls/unary-call.js";
import { fields, fieldsOf, KINDS } from "../../messages/field-kinds.js";
import { fieldProblem, ifPresent, parseFields } from "../../messages/fields.js";
import { toTimestamp } from "../../messages/timestamp.js";
import { formatPageToken, LIST_KINDS, listOf } from "../paging.js";
import { ChangeTurns } from "./change-turns.js";
import { changeOf, notFound, readEndpoints, type WebhookHandlersOptions } from "./changes.js";
import {
  listUndeliveredEvents,
  listWebhookDeliveries,
  replayWebhookEvents,
  resendWebhookDelivery,
} from "./deliveries.js";
import { parseEndpointStatus, toDeliveryMessage, toEndpointMessage } from "./message.js";

/**
 * The rpcs of kesc.v1.WebhookService. An rpc of the contract without a handler does not compile.
 */
export function webhookHandlers(
  given: Omit<WebhookHandlersOptions, "changeTurns">,
): Record<keyof wire.WebhookServiceService, UnaryRoute> {
  const options = { ...given, changeTurns: new ChangeTurns(given.now) };
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

function createWebhookEndpoint(options: WebhookHandlersOptions): UnaryRoute {
  const { cellOf, changeTurns, newWebhookEndpointId, webhookHosts } = options;
  return unary({
    request: wire.CreateWebhookEndpointRequest,
    response: wire.CreateWebhookEndpointResponse,
    ...fieldsOf({ ...KINDS, types: parseEventTypes, url: (url: string) => parseWebhookUrl(url, webhookHosts) })(
      "url",
      "types",
      "description",
    ),
    run: ({ types, ...content }, caller) =>
      changeTurns.run(caller, async () => {
        const change = changeOf(newWebhookEndpointId(), caller, options);
        const secret = newSecret(caller, ["create", content, types?.only ?? null], change.now);
        const { endpoints } = cellOf(caller.organization).webhooks;
        const outcome = await endpoints.create({ ...change, ...content, types: types?.only, secret });
        return resultOf(outcome, (made) => ({ webhook_endpoint: toEndpointMessage(made.endpoint, made.secret) }));
      }),
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

function updateWebhookEndpoint(options: WebhookHandlersOptions): UnaryRoute {
  const { cellOf, changeTurns, webhookHosts } = options;
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
      const { webhook_endpoint_id: id, ...changes } = given.value;
      const { etag } = request;
      if (Object.values(changes).every((change) => change === undefined)) {
        return fieldProblem("url", "is required if types, description and status are absent", "REQUIRED");
      }
      return { ok: true, value: { id, etag, ...changes } };
    },
    run: ({ id, ...changes }, caller) =>
      changeTurns.run(caller, async () => {
        const { endpoints } = cellOf(caller.organization).webhooks;
        const outcome = await endpoints.update({ ...changeOf(id, caller, options), ...changes });
        return resultOf(outcome, (endpoint) => ({ webhook_endpoint: toEndpointMessage(endpoint) }));
      }),
  });
}

function deleteWebhookEndpoint(options: WebhookHandlersOptions): UnaryRoute {
  return unary({
    request: wire.DeleteWebhookEndpointRequest,
    response: wire.DeleteWebhookEndpointResponse,
    ...fields("webhook_endpoint_id"),
    run: ({ webhookEndpointId: id }, caller) =>
      options.changeTurns.run(caller, async () => {
        const { endpoints } = options.cellOf(caller.organization).webhooks;
        return resultOf(await endpoints.remove(changeOf(id, caller, options)), () => ({}));
      }),
  });
}

function rotateWebhookSecret(options: WebhookHandlersOptions): UnaryRoute {
  return unary({
    request: wire.RotateWebhookSecretRequest,
    response: wire.RotateWebhookSecretResponse,
    ...fields("webhook_endpoint_id"),
    run: ({ webhookEndpointId: id }, caller) =>
      options.changeTurns.run(caller, async () => {
        const change = changeOf(id, caller, options);
        const secret = newSecret(caller, ["rotate", id], change.now);
        const { endpoints } = options.cellOf(caller.organization).webhooks;
        return resultOf(await endpoints.rotate({ ...change, secret }), (made) => ({
          webhook_endpoint: toEndpointMessage(made.endpoint, made.secret),
          previous_valid_until: toTimestamp(toUnixMillis((made.secret?.keyed?.at ?? change.now) + OLD_SECRET_MILLIS)),
        }));
      }),
  });
}

function sendTestEvent({ cellOf, changeTurns }: WebhookHandlersOptions): UnaryRoute {
  return unary({
    request: wire.SendTestEventRequest,
    response: wire.SendTestEventResponse,
    ...fields("webhook_endpoint_id"),
    run: async ({ webhookEndpointId: id }, caller) => {
      const { endpoints, tests } = cellOf(caller.organization).webhooks;
      // The log of the attempt is written once the receiver has answered. The turn comes before it:
      // no other change waits for a receiver.
      const found = await changeTurns.run<Endpoint>(caller, async () => {
        const endpoint = await endpoints.endpoint(caller.organization.id, id);
        if (endpoint === undefined) return notFound(id);
        return endpoint.disabledReason === "CHANGED"
          ? refuse({ reason: "WEBHOOK_ENDPOINT_CHANGED", endpointId: id })
          : done(endpoint);
      });
      if (found.kind === "refused") return found;
      const attempt = await tests.send(found.response, caller.deadline);
      if (attempt === undefined) return refuse({ reason: "TOO_MANY_WEBHOOK_TESTS", limit: TESTS_MAX });
      return done({ delivery: toDeliveryMessage(attempt) });
    },
  });
}
