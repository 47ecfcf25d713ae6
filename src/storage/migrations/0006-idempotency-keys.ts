import type { Migration } from "./migration.js";

/**
 * Maps an idempotency key to the resource that its first call created. The commit that creates the
 * resource also saves the key.
 */
export const idempotencyKeys: Migration = ({ int64, tableOptions }) => [
  `CREATE TABLE idempotency_keys (
     organization_id  TEXT NOT NULL REFERENCES organizations (id),
     key              TEXT NOT NULL,
     resource_id      TEXT NOT NULL,
     created_at       ${int64} NOT NULL,
     PRIMARY KEY (organization_id, key)
   ) ${tableOptions}`,
];
