import type { Knex } from "knex";

import type { UnixMillis } from "../../domain/values/time.js";
import { refuseUnsafe, type SessionSettings, SETTINGS_SQL } from "./settings.js";

// A larger difference is no network delay: one of the two clocks is not synchronized.
const CLOCK_DIFFERENCE_MILLIS_MAX = 2_000;

const PING = `SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT) AS now, ${SETTINGS_SQL}`;

/**
 * Rejects if the server does not respond, or if a setting makes it unsafe: somebody may change the
 * settings of a server while we use it. Rejects if its clock differs from `now` by more than 2
 * seconds.
 */
export async function pingPostgres(pool: Knex, now: () => UnixMillis): Promise<void> {
  const sentAt = now();
  const { rows } = await pool.raw<{ readonly rows: readonly [SessionSettings & { readonly now: number }] }>(PING);
  const [found] = rows;
  refuseUnsafe(found);
  // The database read its clock at some moment between sending and receiving.
  const aheadMillis = sentAt - found.now;
  const behindMillis = found.now - now();
  if (Math.max(aheadMillis, behindMillis) <= CLOCK_DIFFERENCE_MILLIS_MAX) return;
  const difference = aheadMillis > 0 ? `${String(aheadMillis)} ms ahead of` : `${String(behindMillis)} ms behind`;
  throw new Error(`the clock of this server is ${difference} that of the database: synchronize both`);
}
