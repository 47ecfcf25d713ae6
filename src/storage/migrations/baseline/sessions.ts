import type { Migration } from "../migration.js";

/**
 * Passkeys and sessions of operators (docs/adr/0069). Only the first cell has rows. A passkey
 * counts only if the acts name its `sha256`. The `mac` of the other rows has the key of the
 * operators' chain.
 */
export const sessions: Migration = ({ int64, bytes, table, tableOptions }) => [
  `CREATE TABLE ${table("passkeys")} (
     sha256         TEXT NOT NULL PRIMARY KEY CHECK (length(sha256) = 64),
     credential_id  TEXT NOT NULL UNIQUE CHECK (credential_id <> ''),
     public_key     ${bytes} NOT NULL,
     created_at     ${int64} NOT NULL
   ) ${tableOptions}`,

  // A session that a code began has never been verified. began_with is the SHA-256 of the passkey,
  // or that of the key with which the code was made.
  `CREATE TABLE ${table("sessions")} (
     id            TEXT NOT NULL PRIMARY KEY CHECK (id <> ''),
     token_sha256  TEXT NOT NULL UNIQUE CHECK (length(token_sha256) = 64),
     operator_id   TEXT NOT NULL CHECK (operator_id <> ''),
     began_with    TEXT NOT NULL CHECK (length(began_with) = 64),
     created_at    ${int64} NOT NULL,
     used_at       ${int64} NOT NULL CHECK (used_at >= created_at),
     verified_at   ${int64} CHECK (verified_at >= created_at),
     mac           ${bytes} NOT NULL CHECK (length(mac) = 32)
   ) ${tableOptions}`,

  `CREATE TABLE ${table("sign_in_tokens")} (
     token_sha256  TEXT NOT NULL PRIMARY KEY CHECK (length(token_sha256) = 64),
     kind          TEXT NOT NULL CHECK (kind IN ('challenge', 'code', 'invitation')),
     content       TEXT NOT NULL CHECK (content <> ''),
     created_at    ${int64} NOT NULL,
     expires_at    ${int64} NOT NULL CHECK (expires_at > created_at),
     mac           ${bytes} NOT NULL CHECK (length(mac) = 32)
   ) ${tableOptions}`,
];
