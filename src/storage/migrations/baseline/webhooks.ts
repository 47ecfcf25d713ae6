import type { Migration } from "../migration.js";

/**
 * The endpoints that get the events of organizations, the events that an endpoint did not take, and
 * the last attempts. No journal row depends on these tables (docs/adr/0043). A server may delete
 * rows of the last two.
 */
export const webhooks: Migration = ({
  int64,
  bytes,
  table,
  clusteredTableOptions,
  changingTableOptions,
  withoutStatistics,
}) => [
  // The data key of the organization's book encrypts the secrets and the url, which may hold a
  // secret. `types` is a JSON array, or NULL for all. The row of a deleted endpoint stays, without
  // either.
  `CREATE TABLE ${table("webhook_endpoints")} (
     id                TEXT NOT NULL PRIMARY KEY,
     organization_id   TEXT NOT NULL REFERENCES ${table("organizations")} (id),
     url               ${bytes},
     secrets           ${bytes},
     description       TEXT NOT NULL,
     types             TEXT,
     status            TEXT NOT NULL CHECK (status IN ('ACTIVE', 'PAUSED', 'DISABLED', 'DELETED')),
     disabled_reason   TEXT CHECK (disabled_reason IN ('GONE', 'FAILING')),
     revision          ${int64} NOT NULL CHECK (revision > 0),
     settled_seq       ${int64} NOT NULL CHECK (settled_seq >= 0),
     replay_seq        ${int64},
     replay_until_seq  ${int64} CHECK (replay_until_seq >= replay_seq),
     failures          ${int64} NOT NULL CHECK (failures >= 0),
     failing_since     ${int64},
     probe_at          ${int64},
     retry_at          ${int64},
     logged            ${int64} NOT NULL CHECK (logged >= 0),
     changed_seq       ${int64} NOT NULL CHECK (changed_seq > 1),
     created_at        ${int64} NOT NULL,
     updated_at        ${int64} NOT NULL CHECK (updated_at >= created_at),
     mac               ${bytes} NOT NULL CHECK (length(mac) = 32),
     CHECK ((status = 'DELETED') = (url IS NULL) AND (status = 'DELETED') = (secrets IS NULL)),
     CHECK ((status = 'DISABLED') = (disabled_reason IS NOT NULL)),
     CHECK ((replay_seq IS NULL) = (replay_until_seq IS NULL)),
     CHECK ((failures = 0) = (failing_since IS NULL))
   ) ${changingTableOptions(50)}`,
  `CREATE INDEX webhook_endpoints_of_organization ON ${table("webhook_endpoints")} (organization_id)
     WHERE status <> 'DELETED'`,
  // The audit of a book reads deleted endpoints, too.
  `CREATE INDEX webhook_endpoints_by_organization ON ${table("webhook_endpoints")} (organization_id, id)`,
  `CREATE INDEX webhook_endpoints_active ON ${table("webhook_endpoints")} (id) WHERE status = 'ACTIVE'`,
  ...withoutStatistics("webhook_endpoints", ["url", "secrets"]),

  // `next_at` is NULL once an event is given up.
  `CREATE TABLE ${table("webhook_retries")} (
     endpoint_id   TEXT NOT NULL REFERENCES ${table("webhook_endpoints")} (id),
     seq           ${int64} NOT NULL CHECK (seq > 0),
     tries         ${int64} NOT NULL CHECK (tries >= 0),
     next_at       ${int64},
     last_code     ${int64},
     last_problem  TEXT,
     last_at       ${int64},
     last_millis   ${int64},
     PRIMARY KEY (endpoint_id, seq)
   ) ${clusteredTableOptions}`,

  `CREATE TABLE ${table("webhook_log")} (
     endpoint_id  TEXT NOT NULL REFERENCES ${table("webhook_endpoints")} (id),
     number       ${int64} NOT NULL CHECK (number > 0),
     seq          ${int64} NOT NULL CHECK (seq >= 0),
     tries        ${int64} NOT NULL CHECK (tries >= 0),
     code         ${int64} NOT NULL,
     problem      TEXT NOT NULL,
     at           ${int64} NOT NULL,
     millis       ${int64} NOT NULL CHECK (millis >= 0),
     PRIMARY KEY (endpoint_id, number)
   ) ${clusteredTableOptions}`,
];
