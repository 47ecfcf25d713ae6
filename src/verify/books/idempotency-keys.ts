import type { RowOf } from "../../model/column.js";
import type { IDEMPOTENCY_KEYS } from "../../model/transactions.js";
import type { Audit } from "../audit.js";
import { guarded } from "../guarded.js";
import { slices } from "../slices.js";
import type { AuditedBook } from "./book.js";

/** An idempotency key, with the resource of its book that it refers to. */
type AuditedIdempotencyKeyRow = Omit<RowOf<typeof IDEMPOTENCY_KEYS>, "book"> & {
  /** Null if the book has no such resource. */
  readonly resource_created_at: number | null;
};

/**
 * Checks that each idempotency key of a book refers to an account, a freeze, a transaction, a
 * destination or a deposit of the book, and that it is not older.
 */
export async function auditIdempotencyKeys(audit: Audit, { row: { number }, findings }: AuditedBook): Promise<void> {
  const { table } = audit.engine;
  const all = slices<AuditedIdempotencyKeyRow>(audit, {
    sql: `
      SELECT k.key, k.resource_id, k.created_at, 
        COALESCE(t.created_at, a.created_at, f.created_at, d.created_at, p.created_at) AS resource_created_at
      FROM ${table("idempotency_keys")} k
      LEFT JOIN ${table("transactions")} t ON t.id = k.resource_id AND t.book = k.book
      LEFT JOIN ${table("accounts")} a ON a.id = k.resource_id AND a.book = k.book
      LEFT JOIN ${table("freezes")} f ON f.id = k.resource_id AND f.book = k.book
      LEFT JOIN ${table("destinations")} d ON d.id = k.resource_id AND d.book = k.book
      LEFT JOIN ${table("deposits")} p ON p.id = k.resource_id AND p.book = k.book
      WHERE k.book = ?`,
    bindings: [number],
    key: "k.key",
    keyOf: ({ key }) => key,
  });
  for await (const rows of all) {
    audit.coverage.idempotencyKeys += rows.length;
    for (const { resource_id: id, created_at: createdAt, resource_created_at: resourceCreatedAt } of rows) {
      const place = { seq: undefined, table: "idempotency_keys", id } as const;
      guarded(findings, place, () => {
        const expected = "an account, a freeze, a transaction, a destination or a deposit of the book";
        if (!findings.isThere(place, resourceCreatedAt, expected)) return;
        if (createdAt < resourceCreatedAt || !Number.isSafeInteger(createdAt)) {
          const earliest = `created_at ${String(resourceCreatedAt)} or later`;
          findings.add(place, { expected: earliest, found: `created_at ${String(createdAt)}` });
        }
      });
    }
  }
}
