import { changedNamesOf, typesOf } from "../../model/column.js";
import { ROWS_OF_ENDPOINTS, WEBHOOK_ENDPOINTS } from "../../model/webhooks.js";
import type { Engine } from "../sql/engine.js";

type StatementName =
  | "all"
  | "one"
  | "update"
  | "retries"
  | "retryNow"
  | "resend"
  | "deleted"
  | "removeRetries"
  | "removeLog"
  | "countLogged";

const CHANGED = typesOf(WEBHOOK_ENDPOINTS, ["id", ...changedNamesOf(WEBHOOK_ENDPOINTS)]);

/** The statements of the endpoints, for their organizations. */
export function endpointStatements(engine: Engine): Readonly<Record<StatementName, string>> {
  const { table, indexedBy, update } = engine;
  const endpoints = table("webhook_endpoints");
  const retries = table("webhook_retries");
  const rows = `
      SELECT e.*, (
        SELECT MAX(seq) FROM ${table("journal")}${indexedBy("journal_webhook_endpoints")}
        WHERE ${ROWS_OF_ENDPOINTS} AND detail = e.id
          AND book = (SELECT b.number FROM ${table("books")} b WHERE b.organization_id = e.organization_id)
      ) AS newest_seq
      FROM ${endpoints} e`;
  return {
    all: `${rows} WHERE e.organization_id = ? AND e.status <> 'DELETED' ORDER BY e.created_at DESC, e.id DESC`,
    one: `${rows} WHERE e.id = ?`,
    update: update(endpoints, { key: "id", columns: CHANGED }),
    retries: `
      SELECT COUNT(*) AS "all", COUNT(CASE WHEN seq = ? THEN 1 END) AS known FROM ${retries} WHERE endpoint_id = ?`,
    retryNow: `UPDATE ${retries} SET next_at = ? WHERE endpoint_id = ? AND next_at IS NOT NULL RETURNING seq`,
    // Its tries begin again, so that it is not given up at once.
    resend: `
      INSERT INTO ${retries} (endpoint_id, seq, tries, next_at) VALUES (?, ?, 0, ?)
      ON CONFLICT (endpoint_id, seq) DO UPDATE SET tries = 0, next_at = excluded.next_at RETURNING seq`,
    deleted: `SELECT id FROM ${endpoints} WHERE id = ? AND organization_id = ? AND status = 'DELETED'`,
    removeRetries: `DELETE FROM ${retries} WHERE endpoint_id = ? RETURNING seq`,
    removeLog: `DELETE FROM ${table("webhook_log")} WHERE endpoint_id = ? RETURNING number`,
    countLogged: `
      UPDATE ${endpoints} SET logged = logged + 1 WHERE id = ? AND status <> 'DELETED' RETURNING logged`,
  };
}
