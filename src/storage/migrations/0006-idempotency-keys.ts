import type { Migration } from "./migration.js";

/** Which resource the call that first carried a key made. Saved in the commit that made it. */
export const idempotencyKeys: Migration = ({ int64, tableOptions }) => [
  `CREATE TABLE idempotency_keys (
     organization_id  TEXT NOT NULL REFERENCES organizations (id),
     key              TEXT NOT NULL,
     resource_id      TEXT NOT NULL,
     created_at       ${int64} NOT NULL,
     PRIMARY KEY (organization_id, key)
   ) ${tableOptions}`,
];
