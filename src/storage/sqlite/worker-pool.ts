import type { CommandResult, Committer } from "../../ledger/ports/committer.js";
import { StoreError } from "../../ledger/ports/store.js";
import type { Read, Session, Transact } from "../sql/engine.js";
import type { WorkerFailure } from "./worker.js";
import { errorOf, type WorkerConnection } from "./worker-client.js";

/** The pool of the only connection. One caller at a time holds it. */
export interface WorkerPool {
  acquireConnection(): Promise<WorkerConnection>;
  releaseConnection(connection: WorkerConnection): Promise<void>;
}

// The worker starts the next batch as soon as it has committed one. More than two batches would
// only wait in its message queue.
const BATCHES_MAX = 2;
// From about 100 calls in flight, batches of 64 keep both threads busy. Larger batches would hold
// all commands, and the threads would wait for each other in turn (docs/adr/0004).
const BATCH_USUAL = 64;

/**
 * Commits the ledger's batches on the worker. One message a batch gave 0.38 to 0.54 of an empty
 * call's rate, where nine messages gave 0.28 (docs/adr/0004).
 */
export function workerCommitter(pool: WorkerPool): Committer {
  return {
    batchesMax: BATCHES_MAX,
    batchUsual: BATCH_USUAL,
    commit: async (commands, now) => {
      const connection = await acquire(pool);
      const committing = connection.request({ commands, now });
      // Releases the connection at once for the next batch. Each batch is a whole transaction, and
      // the worker runs them in order.
      await pool.releaseConnection(connection);
      try {
        const response = await committing;
        return "results" in response ? response.results.map(withError) : [];
      } catch (error) {
        throw connection.isUsable ? error : new StoreError("unavailable", error);
      }
    },
  };
}

/**
 * Runs a transaction whose statements come from this thread. The ledger's batches wait until it
 * ends.
 */
export function workerTransactions(pool: WorkerPool): Transact {
  return async (work) => {
    const connection = await acquire(pool);
    const run = (sql: string, bindings: readonly unknown[] = []): Promise<unknown> =>
      connection.request({ sql, bindings });
    try {
      await run("BEGIN IMMEDIATE");
      const result = await work(sessionOf(connection)).catch(async (error: unknown) => {
        await run("ROLLBACK").catch(() => undefined);
        throw error;
      });
      await run("COMMIT");
      return result;
    } finally {
      await pool.releaseConnection(connection);
    }
  };
}

function sessionOf(connection: WorkerConnection): Session {
  return {
    read: async <Row>({ sql, bindings }: Read) => {
      const result = await connection.request({ sql, bindings });
      return "rows" in result ? (result.rows as readonly Row[]) : [];
    },
    write: async (writes) => {
      for (const { sql, rows } of writes) for (const row of rows) await connection.request({ sql, bindings: [row] });
    },
  };
}

async function acquire(pool: WorkerPool): Promise<WorkerConnection> {
  try {
    return await pool.acquireConnection();
  } catch (error) {
    throw new StoreError("unavailable", error);
  }
}

function withError(result: CommandResult): CommandResult {
  return result.kind === "bug" ? { kind: "bug", error: errorOf(result.error as WorkerFailure) } : result;
}
