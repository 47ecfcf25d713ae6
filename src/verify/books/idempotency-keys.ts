import type { Audit } from "../audit.js";
import { checkGroups, type GroupKey } from "./groups.js";

/** An idempotency key, with the account, freeze or transaction of its book that it refers to. */
interface IdempotencyKeyRow extends GroupKey {
  readonly resource_id: string;
  readonly created_at: number;
  /** Null if the book has no such resource. */
  readonly resource_created_at: number | null;
}

/**
 * Checks that each idempotency key refers to an account, a freeze or a transaction of its book, and
 * that it is not older.
 */
export async function auditIdempotencyKeys(audit: Audit): Promise<void> {
  const { snapshot, coverage } = audit;
  const { table } = snapshot;
  await checkGroups<never, IdempotencyKeyRow>(audit, {
    table: "idempotency_keys",
    summaries: { next: () => Promise.resolve(undefined) },
    rows: snapshot.rows(`
      SELECT k.book, k.resource_id, k.created_at, COALESCE(t.created_at, a.created_at, f.created_at) AS resource_created_at
      FROM ${table("idempotency_keys")} k
      LEFT JOIN ${table("transactions")} t ON t.id = k.resource_id AND t.book = k.book
      LEFT JOIN ${table("accounts")} a ON a.id = k.resource_id AND a.book = k.book
      LEFT JOIN ${table("freezes")} f ON f.id = k.resource_id AND f.book = k.book
      ORDER BY k.book`),
    check: ({ book: { findings } }) => ({
      row({ resource_id: id, created_at: createdAt, resource_created_at: resourceCreatedAt }) {
        coverage.idempotencyKeys += 1;
        const place = { seq: undefined, table: "idempotency_keys", id } as const;
        if (resourceCreatedAt === null) {
          findings.add(place, { expected: "an account, a freeze or a transaction of the book", found: "none" });
        } else if (createdAt < resourceCreatedAt || !Number.isSafeInteger(createdAt)) {
          const expected = `created_at ${String(resourceCreatedAt)} or later`;
          findings.add(place, { expected, found: `created_at ${String(createdAt)}` });
        }
      },
      end: () => undefined,
    }),
  });
}
