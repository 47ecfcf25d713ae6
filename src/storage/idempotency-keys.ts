import { setTimeout as sleep } from "node:timers/promises";

import type { UnixMillis } from "../domain/values/time.js";
import type { Cell, Database } from "./database.js";
import type { IdempotencyKeyRow } from "./sql/records/idempotency-key-rows.js";
import { orStoreError } from "./sql/store-error.js";

/** How long an idempotency key guards a call, at least. A reference guards for ever. */
export const IDEMPOTENCY_KEY_DAYS = 30;

const DAY_MILLIS = 86_400_000;
// A step locks the file of SQLite. With 1,000 rows, commits of a server wait some milliseconds.
const STEP_ROWS = 1_000;
// Servers have the database to themselves for four fifths of the time.
const REST_SHARE = 4;

type KeyRow = Omit<IdempotencyKeyRow, "resource_id">;

interface PurgeOptions {
  readonly now: UnixMillis;
  /** Waits for this time. */
  readonly rest?: (millis: number) => Promise<unknown>;
}

/**
 * Removes the idempotency keys that are older than 30 days. Returns their number. Walks along the
 * primary key in small steps. Each removal is a transaction of its own, with a rest after it that
 * is four times as long, so servers keep committing.
 *
 * On PostgreSQL it needs the role that owns the tables: a server's role may delete nothing.
 */
export async function purgeIdempotencyKeys(
  { cells }: Pick<Database, "cells">,
  { now, rest = sleep }: PurgeOptions,
): Promise<number> {
  let purged = 0;
  for (const cell of cells) purged += await orStoreError(cell.engine, purgeCell(cell, { now, rest }));
  return purged;
}

async function purgeCell(
  { engine: { table, jsonItems }, reader, transact }: Cell,
  { now, rest }: Required<PurgeOptions>,
): Promise<number> {
  const keys = table("idempotency_keys");
  const before = now - IDEMPOTENCY_KEY_DAYS * DAY_MILLIS;
  const page = `
    SELECT book, key, created_at FROM ${keys} WHERE (book, key) > (?, ?) ORDER BY book, key LIMIT ${String(STEP_ROWS)}`;
  const given = `SELECT value FROM ${jsonItems("?")}`;
  const remove = `DELETE FROM ${keys} WHERE book = ? AND key IN (${given}) AND created_at < ? RETURNING key`;
  const removeOld = (oldByBook: ReadonlyMap<number, readonly string[]>): Promise<number> =>
    transact(async (session) => {
      let removed = 0;
      for (const [book, old] of oldByBook) {
        removed += (await session.read({ sql: remove, bindings: [book, JSON.stringify(old), before] })).length;
      }
      return removed;
    });

  // Fails now, and not in a month, if the role may not delete.
  await removeOld(new Map([[0, []]]));
  let purged = 0;
  let last: Pick<KeyRow, "book" | "key"> = { book: 0, key: "" };
  for (;;) {
    const rows: readonly KeyRow[] = await reader.rows<KeyRow>(page, [last.book, last.key]);
    const oldByBook = new Map<number, string[]>();
    for (const { book, key, created_at: createdAt } of rows) {
      if (createdAt >= before) continue;
      const old = oldByBook.get(book) ?? [];
      oldByBook.set(book, old);
      old.push(key);
    }
    if (oldByBook.size > 0) {
      const begun = performance.now();
      purged += await removeOld(oldByBook);
      await rest(REST_SHARE * (performance.now() - begun));
    }
    const end = rows.at(-1);
    if (end === undefined || rows.length < STEP_ROWS) return purged;
    last = end;
  }
}
