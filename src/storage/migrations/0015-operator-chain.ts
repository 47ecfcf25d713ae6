import type { Migration } from "./migration.js";

/**
 * The chain over the acts, proposals and decisions of operators (docs/adr/0059). Each `mac` covers
 * the row that `subject` names and the `mac` before it. Its key is the only row of `operator_keys`,
 * encrypted by a master key.
 */
export const operatorChain: Migration = ({ int64, bytes, table, tableOptions, appendOnly }) => [
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
