import { StoreError } from "../ledger/store.js";
import type { Engine } from "./engine.js";

export const sqliteEngine: Engine = {
  name: "sqlite",
  int64: "INTEGER",
  tableOptions: "STRICT",

  appendOnly: (table) =>
    ["UPDATE", "DELETE"].map(
      (change) => `
        CREATE TRIGGER ${table}_refuses_${change.toLowerCase()} BEFORE ${change} ON ${table}
        BEGIN SELECT RAISE(ABORT, '${table} is append-only'); END`,
    ),

  // One writer at a time: the transaction has locked the whole file.
  forUpdate: "",

  input: (columns) => {
    const fields = Object.keys(columns).map((column) => `value ->> '${column}' AS ${column}`);
    return `(SELECT ${fields.join(", ")} FROM json_each(?)) AS input`;
  },

  list: "SELECT value FROM json_each(?)",

  storeErrorOf: (error) => {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    const refusesContent = /^SQLITE_(CONSTRAINT|MISMATCH|TOOBIG|RANGE)/.test(code);
    return new StoreError(refusesContent ? "rejected" : "unavailable", error);
  },
};
