import knexModule, { type Knex } from "knex";
import BetterSqlite3Client, { type QueryObject } from "knex/lib/dialects/better-sqlite3/index.js";
import SqliteTransaction from "knex/lib/dialects/sqlite3/execution/sqlite-transaction.js";

import type { CommandResult, Committer } from "../../ledger/ports/committer.js";
import { StoreError } from "../../ledger/ports/store.js";
import type { Read, Session, Transact } from "../sql/engine.js";
import { BusyMachineError } from "./file.js";
import type { WorkerFailure, WorkerFiles } from "./worker.js";
import { errorOf, WorkerConnection } from "./worker-client.js";

/** Takes the write lock at once, as the ledger does. */
class ImmediateTransaction extends SqliteTransaction {
  override begin(connection: unknown): Promise<unknown> {
    return this.query(connection, "BEGIN IMMEDIATE;");
  }
}

/**
 * Knex's better-sqlite3 client. Its one connection lives on a worker thread, and one caller at a
 * time holds it.
 */
export class SqliteKnexClient extends BetterSqlite3Client {
  declare releaseConnection: (connection: WorkerConnection) => Promise<void>;

  /** Rejects with a BusyMachineError if the connection is not free in time. */
  override async acquireConnection(): Promise<WorkerConnection> {
    try {
      return (await super.acquireConnection()) as WorkerConnection;
    } catch (error) {
      if (!(error instanceof knexModule.KnexTimeoutError)) throw error;
      const message = "its thread did not respond in time: this machine is too busy, or its disk hangs";
      throw new BusyMachineError(message, { cause: error });
    }
  }

  override acquireRawConnection(): Promise<WorkerConnection> {
    return WorkerConnection.open(this.connectionSettings as WorkerFiles);
  }

  override async destroyRawConnection(connection: WorkerConnection): Promise<void> {
    await connection.close();
  }

  /** Knex's pool calls this before it hands the connection out, and replaces a dead worker. */
  override validateConnection(connection: WorkerConnection): Promise<boolean> {
    return Promise.resolve(connection.isUsable);
  }

  override async _query(connection: WorkerConnection, query: QueryObject): Promise<QueryObject> {
    const result = await connection.request({ sql: query.sql, bindings: this._formatBindings(query.bindings) });
    if ("rows" in result) {
      query.response = result.rows;
    } else if ("changes" in result) {
      query.response = { changes: result.changes };
      query.context = { changes: result.changes };
    }
    return query;
  }

  override transaction(...parameters: unknown[]): Knex.Transaction {
    // Knex returns its own Transaction class, but its types promise the public interface.
    return new ImmediateTransaction(this, ...parameters) as unknown as Knex.Transaction;
  }
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
export function workerCommitter(pool: SqliteKnexClient): Committer {
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
export function workerTransactions(pool: SqliteKnexClient): Transact {
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

async function acquire(pool: SqliteKnexClient): Promise<WorkerConnection> {
  try {
    return await pool.acquireConnection();
  } catch (error) {
    throw new StoreError("unavailable", error);
  }
}

function withError(result: CommandResult): CommandResult {
  return result.kind === "bug" ? { kind: "bug", error: errorOf(result.error as WorkerFailure) } : result;
}
