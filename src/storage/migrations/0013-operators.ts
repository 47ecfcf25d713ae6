import type { Migration } from "./migration.js";

/**
 * The operators: people who administer the service (docs/adr/0054). All tables are append-only. Who
 * is an operator, and with which roles and key, follows from the acts.
 */
export const operators: Migration = ({ int64, bytes, table, tableOptions, appendOnly }) => [
  // Only the first cell has rows here. `hash` covers the row and the hash of the row before it. A
  // key belongs to one operator for ever, and so does a name.
  `CREATE TABLE ${table("operator_acts")} (
     seq          ${int64} NOT NULL PRIMARY KEY CHECK (seq > 0),
     kind         TEXT NOT NULL CHECK (
       kind IN ('operator.created', 'operator.roles_changed', 'operator.key_replaced', 'operator.revoked')
     ),
     operator_id  TEXT NOT NULL CHECK (operator_id <> ''),
     name         TEXT UNIQUE CHECK (name <> ''),
     roles        TEXT CHECK (roles <> ''),
     key_sha256   TEXT UNIQUE CHECK (length(key_sha256) = 64),
     actor        TEXT NOT NULL CHECK (actor <> ''),
     recorded_at  ${int64} NOT NULL,
     hash         ${bytes} NOT NULL CHECK (length(hash) = 32),
     CHECK ((name IS NOT NULL) = (kind = 'operator.created')),
     CHECK ((roles IS NOT NULL) = (kind IN ('operator.created', 'operator.roles_changed'))),
     CHECK ((key_sha256 IS NOT NULL) = (kind IN ('operator.created', 'operator.key_replaced')))
   ) ${tableOptions}`,
  `CREATE INDEX operator_acts_by_operator ON ${table("operator_acts")} (operator_id, seq)`,
  ...appendOnly("operator_acts"),

  // A proposal lies in the cell of its organization, and one about operators in the first cell. So
  // the decision and the act are one transaction.
  `CREATE TABLE ${table("operator_proposals")} (
     id           TEXT NOT NULL PRIMARY KEY,
     content      TEXT NOT NULL CHECK (content <> ''),
     proposed_by  TEXT NOT NULL CHECK (proposed_by <> ''),
     proposed_at  ${int64} NOT NULL,
     expires_at   ${int64} NOT NULL CHECK (expires_at > proposed_at),
     hash         ${bytes} NOT NULL CHECK (length(hash) = 32)
   ) ${tableOptions}`,
  ...appendOnly("operator_proposals"),

  // The primary key lets a proposal be decided once.
  `CREATE TABLE ${table("operator_decisions")} (
     proposal_id  TEXT NOT NULL PRIMARY KEY REFERENCES ${table("operator_proposals")} (id),
     decision     TEXT NOT NULL CHECK (decision IN ('APPROVED', 'REJECTED')),
     decided_by   TEXT NOT NULL CHECK (decided_by <> ''),
     decided_at   ${int64} NOT NULL,
     hash         ${bytes} NOT NULL CHECK (length(hash) = 32)
   ) ${tableOptions}`,
  ...appendOnly("operator_decisions"),

  // The acts of operators are few rows of a long journal. No row of a user is in this index.
  `CREATE INDEX journal_own_rows ON ${table("journal")} (book, seq) WHERE account_id IS NULL`,
];
