import { commitBatch } from "../ledger/commit-batch.js";
import type { Committer } from "../ledger/ports/committer.js";
import type { Database } from "./database.js";
import { postgresTransaction } from "./postgres/transaction.js";
import { ledgerStore } from "./sql/ledger-store.js";
import { threadCommitter } from "./sqlite/worker-client.js";

// What a commit costs beyond its rows: the parsing and planning of its statements, and two journeys
// to the server.
const POSTGRES_BATCH_USUAL = 256;

/**
 * What commits the ledger's batches: on SQLite the thread that owns the writing connection, which
 * decides there too, so that a batch is one message and one answer; on PostgreSQL, which waits for
 * the network anyway, this thread.
 */
export function committerOf({ engine, write }: Database): Committer {
  if (engine.name === "sqlite") return threadCommitter(write);
  const store = ledgerStore(engine, postgresTransaction(write));
  return {
    batchesMax: 1,
    batchUsual: POSTGRES_BATCH_USUAL,
    commit: (commands, now) => commitBatch(store, commands, now),
  };
}
