import type { Migration } from "../migration.js";

/**
 * The restores of the database (docs/adr/0025). While `confirmed_at` of a row is NULL, servers
 * believe no key and no person. Only the first cell has rows, and only the owner of the tables
 * changes them.
 */
export const restores: Migration = ({ int64, table, tableOptions }) => [
  `CREATE TABLE ${table("restores")} (
     restored_at   ${int64} NOT NULL PRIMARY KEY,
     confirmed_at  ${int64}
   ) ${tableOptions}`,
];
