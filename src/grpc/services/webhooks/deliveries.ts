import { parseWebhookEndpointId, type WebhookEndpointId } from "../../../domain/values/ids.js";
import { parsed } from "../../../domain/values/parsed.js";
import { type Endpoint, RETRIES_MAX } from "../../../domain/webhook-endpoint.js";
import * as wire from "../../../gen/kesc/v1/webhook_service.js";
import type { Page } from "../../../ledger/ports/reads.js";
import type { WebhookEndpoints } from "../../../webhooks/ports/endpoints.js";
import type { Caller } from "../../calls/call-context.js";
import { done, refuse, type RpcResult } from "../../calls/rpc-result.js";
import { unary, type UnaryRoute } from "../../calls/unary-call.js";
import { fieldsOf } from "../../messages/field-kinds.js";
import { fieldProblem } from "../../messages/fields.js";
import { formatPageToken, LIST_KINDS, listOf } from "../paging.js";
import { authorOf, submit } from "../submit.js";
import { endpointResponse, parseSequence, toDeliveryMessage, toUndeliveredMessage } from "./message.js";
import { notFound, type WebhookHandlersOptions } from "./reads.js";

// The rpcs of kesc.v1.WebhookService about the deliveries to an endpoint.

export function listWebhookDeliveries(options: WebhookHandlersOptions): UnaryRoute {
  return unary({
    request: wire.ListWebhookDeliveriesRequest,
    response: wire.ListWebhookDeliveriesResponse,
    ...listOf("ListWebhookDeliveries", listFields("webhook_endpoint_id", "failed", "page_size", "page_token")),
    run: async ({ list, page }, caller) => {
      const { id, failed } = list.filters;
      const filter = failed === true ? "failed" : "all";
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
    ...listOf("ListUndeliveredEvents", listFields("webhook_endpoint_id", "page_size", "page_token")),
    run: async ({ list, page }, caller) => {
      const read = await readOf(options, { id: list.filters.id, caller }, (endpoints, endpoint) =>
        endpoints.undelivered(endpoint, page),
      );
      if ("kind" in read) return read;
      const next_page_token = formatPageToken(list, read.nextBeforeSeq);
      return done({ undelivered_events: read.rows.map(toUndeliveredMessage), next_page_token });
    },
  });
}

/** The lists of an endpoint. Their tokens know it as `id`. */
const listFields = fieldsOf({
  ...LIST_KINDS,
  failed: parsed<boolean | undefined>,
  webhook_endpoint_id: { as: "id", parse: parseWebhookEndpointId },
});

/** Reads a page of an endpoint's rows when its turn comes. */
async function readOf<Row>(
  { cellOf, listTurns }: Pick<WebhookHandlersOptions, "cellOf" | "listTurns">,
  { id, caller }: { readonly id: WebhookEndpointId; readonly caller: Caller },
  rowsOf: (endpoints: WebhookEndpoints, endpoint: Endpoint) => Promise<Page<Row>>,
): Promise<Page<Row> | Extract<RpcResult<never>, { kind: "refused" }>> {
  const { endpoints } = cellOf(caller.organization).webhooks;
  const read = await listTurns.page(caller, async () => {
    // Only this read compares the organization, so it comes first.
    const endpoint = await endpoints.endpoint(caller.organization.id, id);
    return endpoint === undefined
      ? { rows: [], nextBeforeSeq: undefined, lookedAt: 1, isMissing: true }
      : { ...(await rowsOf(endpoints, endpoint)), isMissing: false };
  });
  if ("reason" in read) return refuse(read);
  return read.isMissing ? notFound(id) : read;
}

const sequenceFields = fieldsOf({
  webhook_endpoint_id: { as: "id", parse: parseWebhookEndpointId },
  end_sequence: {
    as: "endSeq",
    parse: (seq: bigint | undefined) => (seq === undefined ? parsed(undefined) : parseSequence(seq)),
  },
  sequence: { as: "seq", parse: parseSequence },
  start_sequence: { as: "startSeq", parse: parseSequence },
});
const replayed = sequenceFields("webhook_endpoint_id", "start_sequence", "end_sequence");

export function resendWebhookDelivery({ cellOf, listTurns }: WebhookHandlersOptions): UnaryRoute {
  return unary({
    request: wire.ResendWebhookDeliveryRequest,
    response: wire.ResendWebhookDeliveryResponse,
    ...sequenceFields("webhook_endpoint_id", "sequence"),
    run: async ({ id: endpointId, seq }, caller) => {
      const command = { name: "resendWebhookDelivery", ...authorOf(caller), endpointId, seq } as const;
      // The decision reads the retries of the endpoint. So the call takes a turn, as a list does.
      const page = await listTurns.page(caller, async () => {
        const result = await submit(cellOf, caller, command, endpointResponse);
        return { result, rows: [], lookedAt: RETRIES_MAX };
      });
      return "reason" in page ? refuse(page) : page.result;
    },
  });
}

export function replayWebhookEvents({ cellOf }: WebhookHandlersOptions): UnaryRoute {
  return unary({
    request: wire.ReplayWebhookEventsRequest,
    response: wire.ReplayWebhookEventsResponse,
    parse: (request) => {
      const range = replayed.parse(request);
      if (!range.ok || range.value.endSeq === undefined || range.value.endSeq > range.value.startSeq) return range;
      return fieldProblem("end_sequence", "must be larger than start_sequence", "OUT_OF_RANGE");
    },
    run: ({ id: endpointId, ...range }, caller) => {
      const command = { name: "replayWebhookEvents", ...authorOf(caller), endpointId, ...range } as const;
      return submit(cellOf, caller, command, endpointResponse);
    },
  });
}
