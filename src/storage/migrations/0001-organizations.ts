import type { Migration } from "./migration.js";

/** Organizations, and the API keys of their programs. */
export const organizations: Migration = ({ int64, table, tableOptions }) => [
  `CREATE TABLE ${table("organizations")} (
     id          TEXT NOT NULL PRIMARY KEY,
     name        TEXT NOT NULL CHECK (name <> ''),
     created_at  ${int64} NOT NULL
   ) ${tableOptions}`,

  // The table stores the SHA-256 of the secret in hexadecimal, never the secret.
  `CREATE TABLE ${table("api_keys")} (
     id               TEXT NOT NULL PRIMARY KEY,
     organization_id  TEXT NOT NULL REFERENCES ${table("organizations")} (id),
     name             TEXT NOT NULL,
     secret_sha256    TEXT NOT NULL UNIQUE CHECK (length(secret_sha256) = 64),
     scopes           TEXT NOT NULL CHECK (scopes <> ''),
     created_at       ${int64} NOT NULL,
     expires_at       ${int64},
     revoked_at       ${int64}
   ) ${tableOptions}`,
  `CREATE INDEX api_keys_by_organization ON ${table("api_keys")} (organization_id, created_at)`,
];
