import type { Engine } from "../sql/engine.js";

type StatementName =
  "all" | "retries" | "retryNow" | "resend" | "deleted" | "remove" | "removeRetries" | "removeLog" | "countLogged";

/** The statements of the endpoints, for their organizations. */
export function endpointStatements({ table }: Engine): Readonly<Record<StatementName, string>> {
  const endpoints = table("webhook_endpoints");
  const retries = table("webhook_retries");
  return {
    all: `
      SELECT * FROM ${endpoints} WHERE organization_id = ? AND status <> 'DELETED' ORDER BY created_at DESC, id DESC`,
    retries: `
      SELECT COUNT(*) AS "all", COUNT(CASE WHEN seq = ? THEN 1 END) AS known FROM ${retries} WHERE endpoint_id = ?`,
    retryNow: `UPDATE ${retries} SET next_at = ? WHERE endpoint_id = ? AND next_at IS NOT NULL RETURNING seq`,
    // Its tries begin again, so that it is not given up at once.
    resend: `
      INSERT INTO ${retries} (endpoint_id, seq, tries, next_at) VALUES (?, ?, 0, ?)
      ON CONFLICT (endpoint_id, seq) DO UPDATE SET tries = 0, next_at = excluded.next_at RETURNING seq`,
    deleted: `SELECT id FROM ${endpoints} WHERE id = ? AND organization_id = ? AND status = 'DELETED'`,
    remove: `
      UPDATE ${endpoints} SET status = 'DELETED', url = NULL, secrets = NULL, disabled_reason = NULL,
        description = '', revision = revision + 1, updated_at = ?
      WHERE id = ? RETURNING id`,
    removeRetries: `DELETE FROM ${retries} WHERE endpoint_id = ? RETURNING seq`,
    removeLog: `DELETE FROM ${table("webhook_log")} WHERE endpoint_id = ? RETURNING number`,
    countLogged: `
      UPDATE ${endpoints} SET logged = logged + 1 WHERE id = ? AND status <> 'DELETED' RETURNING logged`,
  };
}
