import type { UnixMillis } from "../domain/values/time.js";
import type { Cell, Database } from "./database.js";
import { orStoreError } from "./sql/store-error.js";

/** How long an idempotency key guards a call, at least. References and user_ids guard for ever. */
export const IDEMPOTENCY_KEY_DAYS = 30;

const DAY_MILLIS = 86_400_000;
// A step locks the file of SQLite. With 1,000 rows, commits of a server wait some milliseconds.
const STEP_ROWS = 1_000;

interface KeyRow {
  readonly book: number;
  readonly key: string;
  readonly created_at: number;
}

/**
 * Removes the idempotency keys that are older than 30 days. Returns their number. Walks along the
 * primary key in small steps, each a transaction of its own, so servers keep committing.
 *
 * On PostgreSQL it needs the role that owns the tables: a server's role may delete nothing.
 */
export async function purgeIdempotencyKeys({ cells }: Pick<Database, "cells">, now: UnixMillis): Promise<number> {
  let purged = 0;
  for (const cell of cells) purged += await orStoreError(cell.engine, purgeCell(cell, now));
  return purged;
}

async function purgeCell({ engine, reader, transact }: Cell, now: UnixMillis): Promise<number> {
  const { table, list } = engine;
  const keys = table("idempotency_keys");
  const before = now - IDEMPOTENCY_KEY_DAYS * DAY_MILLIS;
  const page = `
    SELECT book, key, created_at FROM ${keys} WHERE (book, key) > (?, ?) ORDER BY book, key LIMIT ${String(STEP_ROWS)}`;
  const remove = `DELETE FROM ${keys} WHERE book = ? AND key IN (${list}) AND created_at < ? RETURNING key`;
  let purged = 0;
  let last: Pick<KeyRow, "book" | "key"> = { book: 0, key: "" };
  for (;;) {
    const rows: readonly KeyRow[] = await reader.rows<KeyRow>(page, [last.book, last.key]);
    const oldByBook = new Map<number, string[]>();
    for (const { book, key, created_at: createdAt } of rows) {
      if (createdAt < before) oldByBook.set(book, [...(oldByBook.get(book) ?? []), key]);
    }
    if (oldByBook.size > 0) {
      purged += await transact(async (session) => {
        let removed = 0;
        for (const [book, old] of oldByBook) {
          const bindings = [book, JSON.stringify(old), before];
          removed += (await session.read({ sql: remove, bindings })).length;
        }
        return removed;
      });
    }
    const end = rows.at(-1);
    if (end === undefined || rows.length < STEP_ROWS) return purged;
    last = end;
  }
}
