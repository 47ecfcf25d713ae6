import { commitBatch } from "../../ledger/commit-batch.js";
import type { Committer } from "../../ledger/ports/committer.js";
import type { Transact } from "../sql/engine.js";
import { ledgerStore } from "../sql/ledger-store.js";
import { postgresEngine } from "./engine.js";

// A commit costs the parsing and planning of its statements, and two round trips, however many rows
// it has.
const BATCH_USUAL = 256;

/** Decides and commits the ledger's batches on this thread, which waits for the network anyway. */
export function postgresCommitter(transact: Transact): Committer {
  const store = ledgerStore(postgresEngine, transact);
  return {
    batchesMax: 1,
    batchUsual: BATCH_USUAL,
    commit: (commands, now) => commitBatch(store, commands, now),
  };
}
