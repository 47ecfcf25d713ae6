import type { Migration } from "./migration.js";

const KEY_CHECK = "CHECK ((key_sha256 IS NOT NULL) = (kind IN ('operator.created', 'operator.key_replaced')))";
const KIND_CHECK = `CHECK (
       kind IN ('operator.created', 'operator.roles_changed', 'operator.key_replaced', 'operator.revoked')
     )`;

/**
 * Passkeys and sessions of operators (docs/adr/0069). Only the first cell has rows. A passkey
 * counts only if the acts name its `sha256`. The `mac` of the other rows has the key of the
 * operators' chain.
 */
export const sessions: Migration = ({ int64, bytes, table, tableOptions, changeCheck }) => [
  // A new operator has either a key or a passkey.
  `ALTER TABLE ${table("operator_acts")} ADD COLUMN passkey_sha256 TEXT CHECK (length(passkey_sha256) = 64)
     CONSTRAINT operator_acts_passkey_check CHECK (
       (passkey_sha256 IS NOT NULL) = (
         kind IN ('operator.passkey_added', 'operator.passkey_removed') OR (kind = 'operator.created' AND key_sha256 IS NULL)
       )
     )`,
  ...changeCheck("operator_acts", {
    constraint: "operator_acts_kind_check",
    was: KIND_CHECK,
    is: `CHECK (
       kind IN ('operator.created', 'operator.roles_changed', 'operator.key_replaced', 'operator.passkey_added',
         'operator.passkey_removed', 'operator.revoked')
     )`,
  }),
  ...changeCheck("operator_acts", {
    constraint: "operator_acts_check2",
    was: KEY_CHECK,
    is: `CHECK (
       (key_sha256 IS NOT NULL) = (
         kind = 'operator.key_replaced' OR (kind = 'operator.created' AND passkey_sha256 IS NULL)
       )
     )`,
  }),
  // A passkey belongs to one operator, and never comes back.
  `CREATE UNIQUE INDEX operator_acts_passkeys ON ${table("operator_acts")} (passkey_sha256)
     WHERE kind <> 'operator.passkey_removed'`,

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
