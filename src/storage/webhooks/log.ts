import type { WebhookEndpointId } from "../../domain/values/ids.js";
import type { Attempt } from "../../domain/webhook-endpoint.js";
import { insertedTypesOf } from "../../model/column.js";
import { WEBHOOK_LOG } from "../../model/webhooks.js";
import { LOG_ROWS_MAX } from "../../webhooks/limits.js";
import type { Engine, Session } from "../sql/engine.js";

/**
 * Adds attempts to the log, and removes all but the last 1,000. `logged` counts the new ones, too.
 */
export async function writeLog(
  { table, insertInto }: Engine,
  session: Session,
  {
    id,
    attempts,
    logged,
  }: { readonly id: WebhookEndpointId; readonly attempts: readonly Attempt[]; readonly logged: number },
): Promise<void> {
  const name = table("webhook_log");
  const first = logged - attempts.length + 1;
  const rows = attempts.map(({ seq, tries, code, problem, at, millis }, index) => ({
    endpoint_id: id,
    number: first + index,
    seq,
    tries,
    code,
    problem,
    at,
    millis,
  }));
  await session.write([{ sql: insertInto(name, insertedTypesOf(WEBHOOK_LOG)), rows: rows.slice(-LOG_ROWS_MAX) }]);
  const sql = `DELETE FROM ${name} WHERE endpoint_id = ? AND number <= ? RETURNING number`;
  await session.read({ sql, bindings: [id, logged - LOG_ROWS_MAX] });
}
