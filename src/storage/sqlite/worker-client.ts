import { once } from "node:events";
import { Worker } from "node:worker_threads";

import type { Knex } from "knex";
import BetterSqlite3Client, { type QueryObject } from "knex/lib/dialects/better-sqlite3/index.js";
import SqliteTransaction from "knex/lib/dialects/sqlite3/execution/sqlite-transaction.js";

import type { BatchAnswer, Committer } from "../../ledger/ports/committer.js";
import { StoreError } from "../../ledger/ports/store.js";
import {
  SQLITE_THREAD,
  type ThreadAnswer,
  type ThreadFailure,
  type ThreadOpened,
  type ThreadRequest,
} from "./worker.js";

// Enough that the thread finds the next batch when it has done one; more would only make them wait
// there.
const BATCHES_MAX = 2;
// Were it to take all that are in flight, the callers and the thread would wait for each other in
// turn.
const BATCH_USUAL = 64;

/**
 * A connection that lives on a thread of its own. Requests run there one after the other, in the
 * order of the calls.
 */
class ThreadConnection {
  readonly #worker: Worker;
  /**
   * Few at a time. A Map would keep all that it ever held from the small garbage collections
   * (docs/adr/0015).
   */
  readonly #waiting: Waiting[] = [];
  #lastId = 0;
  #ended: Error | undefined;

  private constructor(worker: Worker) {
    this.#worker = worker;
    worker.on("message", (answer: ThreadAnswer) => {
      const waiting = this.#take(answer.id);
      if ("failure" in answer) waiting?.reject(errorOf(answer.failure));
      else waiting?.resolve(answer);
    });
    worker.on("error", (error) => {
      this.#end(error instanceof Error ? error : new Error(String(error)));
    });
    worker.on("exit", () => {
      this.#end(new Error("the thread of the database has ended"));
    });
  }

  /** Starts the thread and waits until the file is open. Rejects with what went wrong there. */
  static async open(filename: string): Promise<ThreadConnection> {
    const worker = new Worker(SQLITE_THREAD, { workerData: { filename } });
    const [{ failure }] = (await once(worker, "message")) as [ThreadOpened];
    if (failure !== undefined) throw errorOf(failure);
    return new ThreadConnection(worker);
  }

  get usable(): boolean {
    return this.#ended === undefined;
  }

  /** Rejects with what went wrong there. */
  request(request: DistributiveOmit<ThreadRequest, "id">): Promise<Answered> {
    if (this.#ended !== undefined) return Promise.reject(this.#ended);
    const id = (this.#lastId += 1);
    return new Promise((resolve, reject) => {
      this.#waiting.push({ id, resolve, reject });
      this.#worker.postMessage({ id, ...request } satisfies ThreadRequest);
    });
  }

  async close(): Promise<void> {
    if (this.#ended !== undefined) return;
    const exited = once(this.#worker, "exit");
    this.#worker.postMessage("close");
    await exited;
  }

  #take(id: number): Waiting | undefined {
    const index = this.#waiting.findIndex((waiting) => waiting.id === id);
    return index === -1 ? undefined : this.#waiting.splice(index, 1)[0];
  }

  #end(reason: Error): void {
    this.#ended ??= reason;
    for (const { reject } of this.#waiting.splice(0)) reject(this.#ended);
  }
}

type Answered = Exclude<ThreadAnswer, { failure: ThreadFailure }>;

interface Waiting {
  readonly id: number;
  readonly resolve: (answer: Answered) => void;
  readonly reject: (reason: Error) => void;
}

// Omit<> alone makes one type of all members of a union.
type DistributiveOmit<Union, Key extends PropertyKey> = Union extends unknown ? Omit<Union, Key> : never;

function errorOf({ message, stack, code, kind }: ThreadFailure): Error {
  const error = Object.assign(new Error(message), { code, ...(stack === undefined ? {} : { stack }) });
  return kind === undefined ? error : new StoreError(kind, error);
}

/** Takes the write lock at once, as the ledger does. */
class ImmediateTransaction extends SqliteTransaction {
  override begin(connection: unknown): Promise<unknown> {
    return this.query(connection, "BEGIN IMMEDIATE;");
  }
}

/** Knex's better-sqlite3 client, with its connection on a thread of its own. */
export class SqliteThreadClient extends BetterSqlite3Client {
  declare acquireConnection: () => Promise<ThreadConnection>;
  declare releaseConnection: (connection: ThreadConnection) => Promise<void>;

  override acquireRawConnection(): Promise<ThreadConnection> {
    return ThreadConnection.open(this.connectionSettings.filename);
  }

  override async destroyRawConnection(connection: ThreadConnection): Promise<void> {
    await connection.close();
  }

  /** Asked by Knex's pool before it hands the connection out: a dead thread is replaced. */
  override validateConnection(connection: ThreadConnection): Promise<boolean> {
    return Promise.resolve(connection.usable);
  }

  override async _query(connection: ThreadConnection, query: QueryObject): Promise<QueryObject> {
    const answer = await connection.request({ sql: query.sql, bindings: this._formatBindings(query.bindings) });
    if ("rows" in answer) {
      query.response = answer.rows;
    } else if ("changes" in answer) {
      query.response = { changes: answer.changes };
      query.context = { changes: answer.changes };
    }
    return query;
  }

  override transaction(...parameters: unknown[]): Knex.Transaction {
    // Knex gives out its own Transaction class where its types promise the interface that users
    // see.
    return new ImmediateTransaction(this, ...parameters) as unknown as Knex.Transaction;
  }
}

/** Commits the ledger's batches on the thread of this Knex's connection. */
export function threadCommitter(knex: Knex): Committer {
  const client = knex.client as SqliteThreadClient;
  return {
    batchesMax: BATCHES_MAX,
    batchUsual: BATCH_USUAL,
    commit: async (commands, now) => {
      const connection = await acquired(client);
      const answering = connection.request({ commands, now });
      // At once, for the next batch: each is a whole transaction, and the thread does one after the
      // other.
      await client.releaseConnection(connection);
      try {
        const answer = await answering;
        return "answers" in answer ? answer.answers.map(withError) : [];
      } catch (error) {
        throw connection.usable ? error : new StoreError("unavailable", error);
      }
    },
  };
}

async function acquired(client: SqliteThreadClient): Promise<ThreadConnection> {
  try {
    return await client.acquireConnection();
  } catch (error) {
    throw new StoreError("unavailable", error);
  }
}

function withError(answer: BatchAnswer): BatchAnswer {
  return answer.kind === "bug" ? { kind: "bug", error: errorOf(answer.error as ThreadFailure) } : answer;
}
