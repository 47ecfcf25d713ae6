import type { Migration } from "../migration.js";

/**
 * Organizations, and the API keys of their programs. A server believes no row without its `mac`
 * (docs/adr/0072).
 */
export const organizations: Migration = ({ int64, bytes, table, tableOptions }) => [
  `CREATE TABLE ${table("organizations")} (
     id          TEXT NOT NULL PRIMARY KEY,
     name        TEXT NOT NULL CHECK (name <> ''),
     is_sandbox  ${int64} NOT NULL CHECK (is_sandbox IN (0, 1)),
     created_at  ${int64} NOT NULL,
     mac         ${bytes} NOT NULL CHECK (length(mac) = 32)
   ) ${tableOptions}`,

  // `seq` and `revoked_seq` name the rows of the journal that created and revoked the key.
  // The table stores the SHA-256 of the secret in hexadecimal, never the secret.
  `CREATE TABLE ${table("api_keys")} (
     id               TEXT NOT NULL PRIMARY KEY,
     organization_id  TEXT NOT NULL REFERENCES ${table("organizations")} (id),
     name             TEXT NOT NULL,
     secret_sha256    TEXT NOT NULL UNIQUE CHECK (length(secret_sha256) = 64),
     scopes           TEXT NOT NULL CHECK (scopes <> ''),
     seq              ${int64} NOT NULL CHECK (seq > 1),
     created_at       ${int64} NOT NULL,
     expires_at       ${int64},
     revoked_seq      ${int64} CHECK (revoked_seq > seq),
     revoked_at       ${int64},
     last_used_at     ${int64},
     mac              ${bytes} NOT NULL CHECK (length(mac) = 32),
     CHECK ((revoked_seq IS NULL) = (revoked_at IS NULL))
   ) ${tableOptions}`,
  `CREATE INDEX api_keys_by_organization ON ${table("api_keys")} (organization_id, created_at)`,
];
