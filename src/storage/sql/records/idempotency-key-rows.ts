import type { ResourceId, UsedIdempotencyKey } from "../../../domain/decision.js";
import type { IdempotencyKey } from "../../../domain/values/text.js";
import { toUnixMillis } from "../../../domain/values/time.js";
import type { InsertedRow, RowOf } from "../../../model/column.js";
import type { IDEMPOTENCY_KEYS } from "../../../model/transactions.js";
import type { Table } from "../table.js";

/** A row of `idempotency_keys`. */
export type IdempotencyKeyRow = RowOf<typeof IDEMPOTENCY_KEYS>;

export const IDEMPOTENCY_KEY_TABLE: Table<UsedIdempotencyKey, IdempotencyKeyRow> = {
  name: "idempotency_keys",
  key: "key",
  insertedRow: (used, { book }): InsertedRow<typeof IDEMPOTENCY_KEYS> => ({
    book: book.number,
    key: used.key,
    resource_id: used.resourceId,
    created_at: used.createdAt,
  }),
  reads: ({ table, lookedUp }, { pairs }) => [
    {
      finders: ["idempotencyKey"],
      sql: `
        SELECT k.* FROM ${pairs}
        ${lookedUp(table("idempotency_keys"), "k", "k.book = input.book AND k.key = input.name")}`,
    },
  ],
  rowOf: (row, { organizationId }) => ({
    organizationId,
    key: row.key as IdempotencyKey,
    resourceId: row.resource_id as ResourceId,
    createdAt: toUnixMillis(row.created_at),
  }),
  updates: [],
};
