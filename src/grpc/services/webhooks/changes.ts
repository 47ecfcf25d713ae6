import type { WebhookEndpointId } from "../../../domain/values/ids.js";
import type { UnixMillis } from "../../../domain/values/time.js";
import type { AllowedHosts } from "../../../webhooks/allowed.js";
import type { EndpointChange } from "../../../webhooks/ports/endpoints.js";
import { actorOf, type Caller } from "../../calls/call-context.js";
import type { RpcResult } from "../../calls/rpc-result.js";
import type { ListTurns } from "../list-turns.js";
import type { CellOf } from "../served-cell.js";

export interface WebhookHandlersOptions {
  readonly cellOf: CellOf;
  readonly listTurns: ListTurns;
  readonly now: () => UnixMillis;
  readonly newWebhookEndpointId: () => WebhookEndpointId;
  /** The hosts to which the operator allows webhooks, whatever their addresses. */
  readonly webhookHosts: AllowedHosts;
}

/** The change of an endpoint by a caller. */
export function changeOf(
  id: WebhookEndpointId,
  { key }: Pick<Caller, "key">,
  { now }: Pick<WebhookHandlersOptions, "now">,
): EndpointChange {
  return { id, organizationId: key.organizationId, actor: actorOf(key), now: now() };
}

export function notFound<Response>(endpointId: WebhookEndpointId): RpcResult<Response> {
  return { kind: "refused", refusal: { reason: "WEBHOOK_ENDPOINT_NOT_FOUND", endpointId } };
}
