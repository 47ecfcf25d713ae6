import knexModule, { type Knex } from "knex";
import BetterSqlite3Client, { type QueryObject } from "knex/lib/dialects/better-sqlite3/index.js";
import SqliteTransaction from "knex/lib/dialects/sqlite3/execution/sqlite-transaction.js";

import { BusyMachineError } from "./file.js";
import type { WorkerFiles } from "./worker.js";
import { WorkerConnection } from "./worker-client.js";

/** Takes the write lock at once, as the ledger does. */
class ImmediateTransaction extends SqliteTransaction {
  override begin(connection: unknown): Promise<unknown> {
    return this.query(connection, "BEGIN IMMEDIATE;");
  }
}

/** Knex's better-sqlite3 client. Its one connection lives on a worker thread. */
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
