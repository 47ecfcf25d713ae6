import { toUnixMillis, type UnixMillis } from "../domain/values/time.js";
import type { Database } from "./database.js";
import { stateWrite } from "./moves/book-moves.js";
import type { Engine, Session } from "./sql/engine.js";
import { insertOf } from "./sql/insert.js";
import { inTransaction, type ReadingCell, readRows, runAlone } from "./sql/store-error.js";

/**
 * Returns the time of the restore that nobody has confirmed yet. Until then no server believes a
 * key or a person: some of them may have been revoked after the backup.
 */
export async function unconfirmedRestore({
  cells: [cell],
}: {
  readonly cells: readonly [ReadingCell, ...unknown[]];
}): Promise<UnixMillis | undefined> {
  const sql = `SELECT restored_at FROM ${cell.engine.table("restores")} WHERE confirmed_at IS NULL`;
  const [row] = await readRows<{ readonly restored_at: number }>(cell, sql);
  return row && toUnixMillis(row.restored_at);
}

/**
 * Notes that the database was restored: sets all open books to RESTORED, ends the sessions, and
 * lets all keys and persons wait until `confirmRestore`. Returns the number of books that it set.
 *
 * Books that move, or have moved, stay as they are: another cell may have them, and two copies must
 * not take commands.
 */
export async function markRestored({ cells }: Pick<Database, "cells">, now: UnixMillis): Promise<number> {
  let count = 0;
  for (const cell of cells) {
    count += await inTransaction(cell, async (session) => {
      if (cell === cells[0]) await letWait(cell.engine, session, now);
      return markBooks(cell.engine, session);
    });
  }
  return count;
}

async function letWait(engine: Engine, session: Session, now: UnixMillis): Promise<void> {
  const { table } = engine;
  for (const rows of [
    `${table("restores")} WHERE confirmed_at IS NULL`,
    // A session that was ended, or a code that was used, would live again.
    `${table("sessions")} WHERE TRUE`,
    `${table("sign_in_tokens")} WHERE kind <> 'challenge'`,
  ]) {
    await session.read({ sql: `DELETE FROM ${rows} RETURNING 1 AS removed`, bindings: [] });
  }
  await session.write([insertOf(engine, "restores", [{ restored_at: now, confirmed_at: null }])]);
}

async function markBooks(engine: Engine, session: Session): Promise<number> {
  const sql = `SELECT number FROM ${engine.table("books")} WHERE state = 'OPEN' ORDER BY number ${engine.forUpdate}`;
  const open = await session.read<{ readonly number: number }>({ sql, bindings: [] });
  await session.write([stateWrite(engine, open, "RESTORED")]);
  return open.length;
}

/** A person at the machine has seen what acts again: the keys and the persons serve from now on. */
export async function confirmRestore({ cells: [cell] }: Pick<Database, "cells">, now: UnixMillis): Promise<void> {
  await runAlone(cell, {
    sql: `
      UPDATE ${cell.engine.table("restores")} SET confirmed_at = ? WHERE confirmed_at IS NULL
      RETURNING restored_at`,
    bindings: [now],
  });
}
