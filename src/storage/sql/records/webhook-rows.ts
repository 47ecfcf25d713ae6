import type { RowOf } from "../../../model/column.js";
import type { WEBHOOK_ENDPOINTS, WEBHOOK_LOG, WEBHOOK_RETRIES } from "../../../model/webhooks.js";

/** A row of `webhook_endpoints`, as both drivers read it. */
export type EndpointRow<Bytes = Uint8Array> = RowOf<typeof WEBHOOK_ENDPOINTS, Bytes>;

/** A row of `webhook_endpoints`, and what the journal says about it. */
export type ReadEndpointRow = EndpointRow & {
  /** The `seq` of the newest row of the journal about the endpoint. */
  readonly newest_seq: number | null;
};

/** A row of `webhook_retries`. */
export type RetryRow = RowOf<typeof WEBHOOK_RETRIES>;

/** A row of `webhook_log`. */
export type LogRow = RowOf<typeof WEBHOOK_LOG>;
