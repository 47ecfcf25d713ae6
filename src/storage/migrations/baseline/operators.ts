import type { Migration } from "../migration.js";

/**
 * The operators: people who administer the service (docs/adr/0072). All tables but that of the
 * key are append-only. Who is an operator, and with which roles and key, follows from the acts.
 */
export const operators: Migration = ({ int64, bytes, table, tableOptions, appendOnly }) => [
  // Only the first cell has rows here. A key belongs to one operator for ever, and so does a name.
  // A new operator has either a key or a passkey.
  `CREATE TABLE ${table("operator_acts")} (
     seq             ${int64} NOT NULL PRIMARY KEY CHECK (seq > 0),
     kind            TEXT NOT NULL CHECK (
       kind IN ('operator.created', 'operator.roles_changed', 'operator.key_replaced', 'operator.passkey_added',
         'operator.passkey_removed', 'operator.revoked')
     ),
     operator_id     TEXT NOT NULL CHECK (operator_id <> ''),
     name            TEXT UNIQUE CHECK (name <> ''),
     roles           TEXT CHECK (roles <> ''),
     key_sha256      TEXT UNIQUE CHECK (length(key_sha256) = 64),
     actor           TEXT NOT NULL CHECK (actor <> ''),
     recorded_at     ${int64} NOT NULL,
     passkey_sha256  TEXT CHECK (length(passkey_sha256) = 64) CONSTRAINT operator_acts_passkey_check CHECK (
       (passkey_sha256 IS NOT NULL) = (
         kind IN ('operator.passkey_added', 'operator.passkey_removed') OR (kind = 'operator.created' AND key_sha256 IS NULL)
       )
     ),
     CHECK ((name IS NOT NULL) = (kind = 'operator.created')),
     CHECK ((roles IS NOT NULL) = (kind IN ('operator.created', 'operator.roles_changed'))),
     CHECK (
       (key_sha256 IS NOT NULL) = (
         kind = 'operator.key_replaced' OR (kind = 'operator.created' AND passkey_sha256 IS NULL)
       )
     )
   ) ${tableOptions}`,
  `CREATE INDEX operator_acts_by_operator ON ${table("operator_acts")} (operator_id, seq)`,
  // A passkey belongs to one operator, and never comes back.
  `CREATE UNIQUE INDEX operator_acts_passkeys ON ${table("operator_acts")} (passkey_sha256)
     WHERE kind <> 'operator.passkey_removed'`,
  ...appendOnly("operator_acts"),

  // The proposals about operators. Those of organizations lie in their books.
  `CREATE TABLE ${table("operator_proposals")} (
     id           TEXT NOT NULL PRIMARY KEY,
     content      TEXT NOT NULL CHECK (content <> ''),
     proposed_by  TEXT NOT NULL CHECK (proposed_by <> ''),
     proposed_at  ${int64} NOT NULL,
     expires_at   ${int64} NOT NULL CHECK (expires_at > proposed_at)
   ) ${tableOptions}`,
  ...appendOnly("operator_proposals"),

  // The primary key lets a proposal be decided once.
  `CREATE TABLE ${table("operator_decisions")} (
     proposal_id  TEXT NOT NULL PRIMARY KEY REFERENCES ${table("operator_proposals")} (id),
     decision     TEXT NOT NULL CHECK (decision IN ('APPROVED', 'REJECTED')),
     decided_by   TEXT NOT NULL CHECK (decided_by <> ''),
     decided_at   ${int64} NOT NULL
   ) ${tableOptions}`,
  ...appendOnly("operator_decisions"),

  // The chain over the acts, proposals and decisions of operators (docs/adr/0072). Each `mac`
  // covers the row that `subject` names and the `mac` before it. Its key is the only row of
  // `operator_keys`, encrypted by a master key.
  `CREATE TABLE ${table("operator_keys")} (
     id             ${int64} NOT NULL PRIMARY KEY CHECK (id = 1),
     chain_key      ${bytes} NOT NULL,
     master_key_id  TEXT NOT NULL CHECK (master_key_id <> '')
   ) ${tableOptions}`,
  `CREATE TABLE ${table("operator_chain")} (
     seq      ${int64} NOT NULL PRIMARY KEY CHECK (seq > 0),
     subject  TEXT NOT NULL UNIQUE CHECK (subject <> ''),
     mac      ${bytes} NOT NULL CHECK (length(mac) = 32)
   ) ${tableOptions}`,
  ...appendOnly("operator_chain"),
];
