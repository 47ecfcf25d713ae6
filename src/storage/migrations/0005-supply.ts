import type { Migration } from "./migration.js";

/**
 * What each organization holds in KES, and what it owes in KESC: the summary of all its postings.
 * One to one, always.
 */
export const supply: Migration = ({ int64, tableOptions }) => [
  `CREATE TABLE supply (
     organization_id  TEXT NOT NULL PRIMARY KEY REFERENCES organizations (id),
     reserve_cents    ${int64} NOT NULL CHECK (reserve_cents >= 0),
     available_cents  ${int64} NOT NULL CHECK (available_cents >= 0),
     held_cents       ${int64} NOT NULL CHECK (held_cents >= 0),
     CHECK (reserve_cents = available_cents + held_cents)
   ) ${tableOptions}`,
];
