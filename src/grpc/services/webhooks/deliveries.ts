import { parseWebhookEndpointId, type WebhookEndpointId } from "../../../domain/values/ids.js";
import { parsed } from "../../../domain/values/parsed.js";
import type { Endpoint } from "../../../domain/webhook-endpoint.js";
import * as wire from "../../../gen/kesc/v1/webhook_service.js";
import type { Page } from "../../../ledger/ports/reads.js";
import type { WebhookEndpoints } from "../../../webhooks/ports/endpoints.js";
import type { Caller } from "../../calls/call-context.js";
import { done, resultOf, type RpcResult } from "../../calls/rpc-result.js";
import { unary, type UnaryRoute } from "../../calls/unary-call.js";
import { fieldProblem, type ParsedFields, parseFields } from "../../messages/fields.js";
import {
  askedPage,
  formatPageToken,
  type PagedList,
  type PageOfList,
  parsePageSize,
  parsePageToken,
} from "../paging.js";
import { changeOf, notFound, type WebhookHandlersOptions } from "./changes.js";
import { parseSequence, toDeliveryMessage, toEndpointMessage, toUndeliveredMessage } from "./message.js";

// The rpcs of kesc.v1.WebhookService about the deliveries to an endpoint.

export function listWebhookDeliveries(options: WebhookHandlersOptions): UnaryRoute {
  return unary({
    request: wire.ListWebhookDeliveriesRequest,
    response: wire.ListWebhookDeliveriesResponse,
    parse: (request, { key }) =>
      parseAsked(request, { rpc: "ListWebhookDeliveries", key, filters: { failed: request.failed } }),
    run: async ({ id, list, page }, caller) => {
      const filter = list.filters["failed"] === true ? "failed" : "all";
      const read = await readOf(options, { id, caller }, (endpoints, endpoint) =>
        endpoints.attempts(endpoint, filter, page),
      );
      if ("kind" in read) return read;
      const next_page_token = formatPageToken(list, read.nextBeforeSeq);
      return done({ deliveries: read.rows.map(toDeliveryMessage), next_page_token });
    },
  });
}

export function listUndeliveredEvents(options: WebhookHandlersOptions): UnaryRoute {
  return unary({
    request: wire.ListUndeliveredEventsRequest,
    response: wire.ListUndeliveredEventsResponse,
    parse: (request, { key }) => parseAsked(request, { rpc: "ListUndeliveredEvents", key, filters: {} }),
    run: async ({ id, list, page }, caller) => {
      const read = await readOf(options, { id, caller }, (endpoints, endpoint) =>
        endpoints.undelivered(endpoint, page),
      );
      if ("kind" in read) return read;
      const next_page_token = formatPageToken(list, read.nextBeforeSeq);
      return done({ undelivered_events: read.rows.map(toUndeliveredMessage), next_page_token });
    },
  });
}

type AskedList = Pick<wire.ListWebhookDeliveriesRequest, "webhook_endpoint_id" | "page_size" | "page_token">;

/** Parses the endpoint and the page of a list. */
function parseAsked(
  request: AskedList,
  { rpc, key, filters }: Pick<PagedList, "rpc" | "filters"> & Pick<Caller, "key">,
): ParsedFields<PageOfList<PagedList> & { readonly id: WebhookEndpointId }> {
  const fields = parseFields({
    webhook_endpoint_id: parseWebhookEndpointId(request.webhook_endpoint_id),
    page_size: parsePageSize(request.page_size),
    page_token: parsePageToken(request.page_token),
  });
  if (!fields.ok) return fields;
  const { webhook_endpoint_id: id } = fields.value;
  const list: PagedList = { rpc, organizationId: key.organizationId, filters: { id, ...filters } };
  const asked = askedPage(list, fields.value);
  return asked.ok ? { ok: true, value: { id, ...asked.value } } : asked;
}

/** Reads a page of an endpoint's rows when its turn comes. */
async function readOf<Row>(
  { cellOf, listTurns }: Pick<WebhookHandlersOptions, "cellOf" | "listTurns">,
  { id, caller }: { readonly id: WebhookEndpointId; readonly caller: Caller },
  rowsOf: (endpoints: WebhookEndpoints, endpoint: Endpoint) => Promise<Page<Row>>,
): Promise<Page<Row> | Extract<RpcResult<never>, { kind: "refused" }>> {
  const { endpoints } = cellOf(caller.key).webhooks;
  const read = await listTurns.page(caller, async () => {
    // Only this read compares the organization, so it comes first.
    const endpoint = await endpoints.endpoint(caller.key.organizationId, id);
    return endpoint === undefined
      ? { rows: [], nextBeforeSeq: undefined, lookedAt: 1, isMissing: true }
      : { ...(await rowsOf(endpoints, endpoint)), isMissing: false };
  });
  if ("reason" in read) return { kind: "refused", refusal: read };
  return read.isMissing ? notFound(id) : read;
}

export function resendWebhookDelivery(options: WebhookHandlersOptions): UnaryRoute {
  return unary({
    request: wire.ResendWebhookDeliveryRequest,
    response: wire.ResendWebhookDeliveryResponse,
    parse: (request) =>
      parseFields({
        webhook_endpoint_id: parseWebhookEndpointId(request.webhook_endpoint_id),
        sequence: parseSequence(request.sequence),
      }),
    run: ({ webhook_endpoint_id: id, sequence: seq }, caller) =>
      options.changeTurns.run(caller, async () => {
        const { endpoints } = options.cellOf(caller.key).webhooks;
        const outcome = await endpoints.resend({ ...changeOf(id, caller, options), seq });
        return resultOf(outcome, (endpoint) => ({ webhook_endpoint: toEndpointMessage(endpoint) }));
      }),
  });
}

export function replayWebhookEvents(options: WebhookHandlersOptions): UnaryRoute {
  return unary({
    request: wire.ReplayWebhookEventsRequest,
    response: wire.ReplayWebhookEventsResponse,
    parse: (request) => {
      const fields = parseFields({
        webhook_endpoint_id: parseWebhookEndpointId(request.webhook_endpoint_id),
        start_sequence: parseSequence(request.start_sequence),
        end_sequence: request.end_sequence === undefined ? parsed(undefined) : parseSequence(request.end_sequence),
      });
      if (!fields.ok) return fields;
      const { start_sequence: startSeq, end_sequence: endSeq } = fields.value;
      if (endSeq !== undefined && endSeq <= startSeq) {
        return fieldProblem("end_sequence", "must be larger than start_sequence", "OUT_OF_RANGE");
      }
      return { ok: true, value: { id: fields.value.webhook_endpoint_id, startSeq, endSeq } };
    },
    run: ({ id, ...range }, caller) =>
      options.changeTurns.run(caller, async () => {
        const { endpoints } = options.cellOf(caller.key).webhooks;
        const outcome = await endpoints.replay({ ...changeOf(id, caller, options), ...range });
        return resultOf(outcome, (endpoint) => ({ webhook_endpoint: toEndpointMessage(endpoint) }));
      }),
  });
}
