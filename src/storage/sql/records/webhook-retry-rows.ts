import type { OrganizationId, WebhookEndpointId } from "../../../domain/values/ids.js";
import { toUnixMillis } from "../../../domain/values/time.js";
import type { EndpointRetry, Retry } from "../../../domain/webhook-endpoint.js";
import type { RowOf } from "../../../model/column.js";
import type { WEBHOOK_LOG, WEBHOOK_RETRIES } from "../../../model/webhooks.js";
import type { Table } from "../table.js";

/** A row of `webhook_retries`. */
export type RetryRow = RowOf<typeof WEBHOOK_RETRIES>;

/** A row of `webhook_log`. */
export type LogRow = RowOf<typeof WEBHOOK_LOG>;

type OwnedRetryRow = RetryRow & { readonly organization_id: string };

/**
 * The deliveries write the retries, and their log, without the ledger: what a receiver answered is
 * nobody's act. A command adds only the event that somebody asks for again. It has the lock of the
 * endpoint, which the deliveries take first.
 */
export const WEBHOOK_RETRY_TABLE: Table<EndpointRetry, OwnedRetryRow> = {
  name: "webhook_retries",
  key: ["endpoint_id", "seq"],
  insertedRow: ({ endpointId, ...retry }) => retryRowOf(endpointId, retry),
  reads: ({ table }, { list }) => [
    {
      finders: ["webhookRetries"],
      isAfterLock: true,
      sql: `
        SELECT r.*, e.organization_id FROM ${table("webhook_retries")} r
        JOIN ${table("webhook_endpoints")} e ON e.id = r.endpoint_id
        WHERE r.endpoint_id IN (${list})`,
    },
  ],
  rowOf: (row) => ({
    ...retryOf(row),
    organizationId: row.organization_id as OrganizationId,
    endpointId: row.endpoint_id as WebhookEndpointId,
  }),
  updates: [{ sets: ["tries", "next_at"] }],
};

export function retryOf(row: RetryRow): Retry {
  const { last_code: code, last_problem: problem, last_at: at, last_millis: millis } = row;
  return {
    seq: row.seq,
    tries: row.tries,
    nextAt: row.next_at === null ? undefined : toUnixMillis(row.next_at),
    last:
      code === null || problem === null || at === null || millis === null
        ? undefined
        : { code, problem, at: toUnixMillis(at), millis },
  };
}

export function retryRowOf(endpointId: WebhookEndpointId, { seq, tries, nextAt, last }: Retry): RetryRow {
  return {
    endpoint_id: endpointId,
    seq,
    tries,
    next_at: nextAt ?? null,
    last_code: last?.code ?? null,
    last_problem: last?.problem ?? null,
    last_at: last?.at ?? null,
    last_millis: last?.millis ?? null,
  };
}
