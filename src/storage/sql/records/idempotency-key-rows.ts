import type { ResourceId, UsedIdempotencyKey } from "../../../domain/decision.js";
import type { IdempotencyKey } from "../../../domain/values/text.js";
import { toUnixMillis } from "../../../domain/values/time.js";
import type { RowOf } from "../../../model/column.js";
import type { IDEMPOTENCY_KEYS } from "../../../model/transactions.js";
import type { OpenBook } from "../book-directory.js";

/** A row of `idempotency_keys`. */
export type IdempotencyKeyRow = RowOf<typeof IDEMPOTENCY_KEYS>;

export function idempotencyKeyOf(row: IdempotencyKeyRow, { organizationId }: OpenBook): UsedIdempotencyKey {
  return {
    organizationId,
    key: row.key as IdempotencyKey,
    resourceId: row.resource_id as ResourceId,
    createdAt: toUnixMillis(row.created_at),
  };
}
