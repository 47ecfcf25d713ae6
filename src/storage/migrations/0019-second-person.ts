import type { Migration } from "./migration.js";

/**
 * Proposals of operators lie in the book that they are about, beside those of corrections and of
 * resolutions (docs/adr/0061). `seq` is the row of the journal that changed the proposal last. Only
 * the service can make the `mac`: nobody can approve a row without it.
 */
export const secondPerson: Migration = ({ int64, bytes, table }) => [
  ...[
    `id TEXT`,
    `seq ${int64} CHECK (seq > 0)`,
    `expires_at ${int64} CHECK (expires_at > proposed_at)`,
    `decision TEXT CHECK (decision IN ('APPROVED', 'REJECTED', 'LAPSED'))`,
    `decided_by TEXT CHECK (decided_by <> '')`,
    // Encrypted. It goes with the decision.
    `sealed ${bytes}`,
    `mac ${bytes} CHECK (length(mac) = 32)`,
  ].map((column) => `ALTER TABLE ${table("proposals")} ADD COLUMN ${column}`),
  `CREATE UNIQUE INDEX proposals_by_id ON ${table("proposals")} (id) WHERE id IS NOT NULL`,
  `CREATE INDEX proposals_waiting ON ${table("proposals")} (book) WHERE done_at IS NULL`,
];
