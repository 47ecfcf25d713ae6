import { parseWebhookEndpointId } from "../../../domain/values/ids.js";
import {
  ListWebhookDeliveriesRequest,
  ListWebhookDeliveriesResponse,
  ReplayWebhookEventsRequest,
  ReplayWebhookEventsResponse,
  ResendWebhookDeliveryRequest,
  ResendWebhookDeliveryResponse,
} from "../../../gen/kesc/v1/webhook_service.js";
import type { Page } from "../../../ledger/ports/reads.js";
import type { AttemptFilter, ListedAttempt } from "../../../webhooks/ports/endpoints.js";
import { done, resultOf } from "../../calls/rpc-result.js";
import { unary, type UnaryRoute } from "../../calls/unary-call.js";
import { fieldProblem, parseFields } from "../../messages/fields.js";
import { formatPageToken, type PagedList, pageOf, parsePageSize, parsePageToken } from "../paging.js";
import { changeOf, notFound, type WebhookHandlersOptions } from "./changes.js";
import { parseSequence, toDeliveryMessage, toEndpointMessage } from "./message.js";

// The rpcs of kesc.v1.WebhookService about the deliveries to an endpoint.

const NO_ATTEMPTS: Page<ListedAttempt> = { rows: [], nextBeforeSeq: undefined, lookedAt: 1 };

export function listWebhookDeliveries({ cellOf, listTurns }: WebhookHandlersOptions): UnaryRoute {
  return unary({
    request: ListWebhookDeliveriesRequest,
    response: ListWebhookDeliveriesResponse,
    parse: (request, { key }) => {
      const fields = parseFields({
        webhook_endpoint_id: parseWebhookEndpointId(request.webhook_endpoint_id),
        page_size: parsePageSize(request.page_size || undefined),
        page_token: parsePageToken(request.page_token),
      });
      if (!fields.ok) return fields;
      const { webhook_endpoint_id: id, page_size: size, page_token: token } = fields.value;
      const filter: AttemptFilter = request.undelivered ? "undelivered" : request.failed ? "failed" : "all";
      const filters = { id, filter };
      const list: PagedList = { rpc: "ListWebhookDeliveries", organizationId: key.organizationId, filters };
      const page = pageOf(list, { size, token });
      return page.ok ? { ok: true, value: { list, filters, page: page.value } } : page;
    },
    run: async ({ list, filters: { id, filter }, page }, caller) => {
      const { endpoints } = cellOf(caller.key).webhooks;
      const read = await listTurns.page(caller, async () => {
        // Only this read compares the organization, so it comes first.
        const endpoint = await endpoints.endpoint(caller.key.organizationId, id);
        return { endpoint, ...(endpoint === undefined ? NO_ATTEMPTS : await endpoints.attempts(id, filter, page)) };
      });
      if ("reason" in read) return { kind: "refused", refusal: read };
      if (read.endpoint === undefined) return notFound(id);
      const { rows, nextBeforeSeq } = read;
      return done({
        deliveries: rows.map(toDeliveryMessage),
        next_page_token: formatPageToken(list, nextBeforeSeq) ?? "",
      });
    },
  });
}

export function resendWebhookDelivery(options: WebhookHandlersOptions): UnaryRoute {
  return unary({
    request: ResendWebhookDeliveryRequest,
    response: ResendWebhookDeliveryResponse,
    parse: (request) =>
      parseFields({
        webhook_endpoint_id: parseWebhookEndpointId(request.webhook_endpoint_id),
        sequence: parseSequence(request.sequence),
      }),
    run: ({ webhook_endpoint_id: id, sequence: seq }, caller) =>
      options.changeTurns.run(caller, async () => {
        const { endpoints } = options.cellOf(caller.key).webhooks;
        const outcome = await endpoints.resend({ ...changeOf(id, caller, options), seq });
        return resultOf(outcome, (endpoint) => ({ endpoint: toEndpointMessage(endpoint) }));
      }),
  });
}

export function replayWebhookEvents(options: WebhookHandlersOptions): UnaryRoute {
  return unary({
    request: ReplayWebhookEventsRequest,
    response: ReplayWebhookEventsResponse,
    parse: (request) => {
      const fields = parseFields({
        webhook_endpoint_id: parseWebhookEndpointId(request.webhook_endpoint_id),
        from_sequence: parseSequence(request.from_sequence),
        until_sequence: parseSequence(request.until_sequence),
      });
      if (!fields.ok || fields.value.until_sequence >= fields.value.from_sequence) return fields;
      return fieldProblem("until_sequence", "must not be smaller than from_sequence", "OUT_OF_RANGE");
    },
    run: ({ webhook_endpoint_id: id, from_sequence: fromSeq, until_sequence: untilSeq }, caller) =>
      options.changeTurns.run(caller, async () => {
        const { endpoints } = options.cellOf(caller.key).webhooks;
        const outcome = await endpoints.replay({ ...changeOf(id, caller, options), fromSeq, untilSeq });
        return resultOf(outcome, (endpoint) => ({ endpoint: toEndpointMessage(endpoint) }));
      }),
  });
}
