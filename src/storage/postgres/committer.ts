import { commitBatch } from "../../ledger/commit-batch.js";
import type { Committer } from "../../ledger/ports/committer.js";
import type { LedgerStore } from "../../ledger/ports/store.js";

// Most of a commit's cost does not depend on its size: two round trips, parsing and planning.
// Batches of 256 gave 7,000 mints a second, batches of 128 gave 5,700 (docs/adr/0013).
const BATCH_USUAL = 256;

/**
 * Decides and commits the ledger's batches on this thread. A thread of its own gained nothing with
 * 400 calls in flight, because this one mostly waits for the network (docs/adr/0013).
 */
export function postgresCommitter(store: LedgerStore): Committer {
  return {
    batchesMax: 1,
    batchUsual: BATCH_USUAL,
    commit: (commands, now) => commitBatch(store, commands, now),
  };
}
