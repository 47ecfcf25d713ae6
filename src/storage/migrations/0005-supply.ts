import type { Migration } from "./migration.js";

/**
 * The KES reserve of each organization and the KESC that it owes. A row sums up all its postings.
 * The reserve always equals the debt.
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
