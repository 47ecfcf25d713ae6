import { parseWebhookEndpointId, type WebhookEndpointId } from "../../../domain/values/ids.js";
import { parsed } from "../../../domain/values/parsed.js";
import type { Endpoint } from "../../../domain/webhook-endpoint.js";
import * as wire from "../../../gen/kesc/v1/webhook_service.js";
import type { Page } from "../../../ledger/ports/reads.js";
import type { WebhookEndpoints } from "../../../webhooks/ports/endpoints.js";
import type { Caller } from "../../calls/call-context.js";
import { done, refuse, resultOf, type RpcResult } from "../../calls/rpc-result.js";
import { unary, type UnaryRoute } from "../../calls/unary-call.js";
import { fieldsOf } from "../../messages/field-kinds.js";
import { fieldProblem } from "../../messages/fields.js";
import { formatPageToken, LIST_KINDS, listOf } from "../paging.js";
import { changeOf, notFound, type WebhookHandlersOptions } from "./changes.js";
import { parseSequence, toDeliveryMessage, toEndpointMessage, toUndeliveredMessage } from "./message.js";

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

export function resendWebhookDelivery(options: WebhookHandlersOptions): UnaryRoute {
  return unary({
    request: wire.ResendWebhookDeliveryRequest,
    response: wire.ResendWebhookDeliveryResponse,
    ...sequenceFields("webhook_endpoint_id", "sequence"),
    run: ({ id, seq }, caller) =>
      options.changeTurns.run(caller, async () => {
        const { endpoints } = options.cellOf(caller.organization).webhooks;
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
      const range = replayed.parse(request);
      if (!range.ok || range.value.endSeq === undefined || range.value.endSeq > range.value.startSeq) return range;
      return fieldProblem("end_sequence", "must be larger than start_sequence", "OUT_OF_RANGE");
    },
    run: ({ id, ...range }, caller) =>
      options.changeTurns.run(caller, async () => {
        const { endpoints } = options.cellOf(caller.organization).webhooks;
        const outcome = await endpoints.replay({ ...changeOf(id, caller, options), ...range });
        return resultOf(outcome, (endpoint) => ({ webhook_endpoint: toEndpointMessage(endpoint) }));
      }),
  });
}
