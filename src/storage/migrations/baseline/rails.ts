import type { Migration } from "../migration.js";

/**
 * The accounts of organizations at rails, what rails report about payments, and the leases of the
 * servers. No journal row depends on these tables (docs/adr/0038).
 */
export const rails: Migration = ({ int64, rowNumber, bytes, table, tableOptions, withoutStatistics }) => [
  // The settings hold no secret. The data key of the organization's book encrypts the credentials.
  // `revision` counts the changes of the account. Each is a row `rail.changed` of the journal. A
  // payment begins only under the revision that the settlement has read (docs/adr/0058).
  // `warnings` summarizes the rows `rail.warned` and `rail.cleared` (docs/adr/0066). A balance
  // counts only at the address of the question that stands. `balance_asked_at` and `_with` say when
  // it was asked, and with which credentials: new ones are tried once, until the rail has answered.
  // No server uses a row without its `mac` (docs/adr/0072).
  `CREATE TABLE ${table("rail_accounts")} (
     id                       TEXT NOT NULL PRIMARY KEY,
     organization_id          TEXT NOT NULL REFERENCES ${table("organizations")} (id),
     rail                     TEXT NOT NULL CHECK (rail <> '' AND rail <> 'direct'),
     settings                 TEXT NOT NULL,
     credentials              ${bytes},
     credentials_expire_at    ${int64},
     payouts                  TEXT NOT NULL CHECK (payouts IN ('auto', 'open', 'closed')),
     payouts_reason           TEXT NOT NULL,
     is_usual                 ${int64} NOT NULL CHECK (is_usual IN (0, 1)),
     begin_within_millis      ${int64} NOT NULL CHECK (begin_within_millis > 0),
     confirm_above_cents      ${int64} NOT NULL CHECK (confirm_above_cents >= 0),
     resolve_alone_max_cents  ${int64} NOT NULL CHECK (resolve_alone_max_cents >= 0),
     balance                  TEXT,
     balance_at               ${int64},
     created_at               ${int64} NOT NULL,
     updated_at               ${int64} NOT NULL CHECK (updated_at >= created_at),
     revision                 ${int64} NOT NULL DEFAULT 1 CHECK (revision > 0),
     deposits_since           ${int64},
     deposits_due_at          ${int64},
     deposits_read_at         ${int64},
     float_min_cents          ${int64} NOT NULL DEFAULT 0 CHECK (float_min_cents >= 0),
     warnings                 TEXT NOT NULL DEFAULT '{}' CHECK (warnings <> ''),
     balance_question         TEXT CHECK (balance_question <> ''),
     balance_asked_at         ${int64},
     balance_asked_with       TEXT,
     mac                      ${bytes} NOT NULL CHECK (length(mac) = 32),
     UNIQUE (organization_id, rail),
     CHECK ((balance IS NULL) = (balance_at IS NULL))
   ) ${tableOptions}`,
  `CREATE UNIQUE INDEX rail_accounts_usual ON ${table("rail_accounts")} (organization_id) WHERE is_usual = 1`,
  `CREATE UNIQUE INDEX rail_accounts_asked ON ${table("rail_accounts")} (balance_question) WHERE balance_question IS NOT NULL`,
  ...withoutStatistics("rail_accounts", ["credentials"]),

  // The messages of rails, which are evidence: a server changes only the last two columns. `due_at`
  // is NULL once a message has been applied. There is no foreign key: after a restore, rails report
  // about transactions that the book lacks, and exactly these messages are needed.
  `CREATE TABLE ${table("rail_messages")} (
     id              ${rowNumber},
     transaction_id  TEXT NOT NULL,
     purpose         TEXT NOT NULL CHECK (purpose <> ''),
     sha256          TEXT NOT NULL CHECK (length(sha256) = 64),
     body_masked     TEXT NOT NULL,
     received_at     ${int64} NOT NULL,
     due_at          ${int64},
     tries           ${int64} NOT NULL CHECK (tries >= 0),
     UNIQUE (transaction_id, sha256)
   ) ${tableOptions}`,
  `CREATE INDEX rail_messages_due ON ${table("rail_messages")} (due_at) WHERE due_at IS NOT NULL`,
  ...withoutStatistics("rail_messages", ["body_masked"]),

  // The holder of a lease alone does the work that the lease names. `fence` counts the holders.
  `CREATE TABLE ${table("leases")} (
     name    TEXT NOT NULL PRIMARY KEY,
     holder  TEXT NOT NULL CHECK (holder <> ''),
     until   ${int64} NOT NULL,
     fence   ${int64} NOT NULL CHECK (fence > 0)
   ) ${tableOptions}`,
];
