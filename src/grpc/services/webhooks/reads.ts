import type { WebhookEndpointId } from "../../../domain/values/ids.js";
import type { UnixMillis } from "../../../domain/values/time.js";
import type { Endpoint } from "../../../domain/webhook-endpoint.js";
import type { AllowedHosts } from "../../../webhooks/allowed.js";
import type { Caller } from "../../calls/call-context.js";
import type { ListRefusal, ListTurns } from "../../calls/list-turns.js";
import { refuse, type RpcResult } from "../../calls/rpc-result.js";
import type { CellOf } from "../served-cell.js";

export interface WebhookHandlersOptions {
  readonly cellOf: CellOf;
  readonly listTurns: ListTurns;
  readonly now: () => UnixMillis;
  readonly newWebhookEndpointId: () => WebhookEndpointId;
  /** The hosts to which the operator allows webhooks, whatever their addresses. */
  readonly webhookHosts: AllowedHosts;
}

/** Reads the endpoints of the caller's organization when its turn comes, newest first. */
export async function readEndpoints(
  { cellOf, listTurns }: Pick<WebhookHandlersOptions, "cellOf" | "listTurns">,
  caller: Caller,
): Promise<readonly Endpoint[] | ListRefusal> {
  const { endpoints } = cellOf(caller.organization).webhooks;
  const page = await listTurns.page(caller, async () => {
    const rows = await endpoints.endpoints(caller.organization.id);
    return { rows, lookedAt: rows.length };
  });
  return "reason" in page ? page : page.rows;
}

export function notFound(endpointId: WebhookEndpointId): Extract<RpcResult<never>, { kind: "refused" }> {
  return refuse({ reason: "WEBHOOK_ENDPOINT_NOT_FOUND", endpointId });
}
