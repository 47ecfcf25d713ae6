import { once } from "node:events";
import { Worker } from "node:worker_threads";

import type { Knex } from "knex";
import BetterSqlite3Client, { type QueryObject } from "knex/lib/dialects/better-sqlite3/index.js";
import SqliteTransaction from "knex/lib/dialects/sqlite3/execution/sqlite-transaction.js";

import {
  SQLITE_THREAD,
  type ThreadAnswer,
  type ThreadFailure,
  type ThreadOpened,
  type ThreadRequest,
} from "./sqlite-thread.js";

/** A connection that lives on a thread of its own. Queries run there one after the other, in the order of the calls. */
class ThreadConnection {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, PromiseWithResolvers<ThreadAnswer>>();
  #lastId = 0;
  #ended: Error | undefined;

  private constructor(worker: Worker) {
    this.#worker = worker;
    worker.on("message", (answer: ThreadAnswer) => {
      this.#waiting.get(answer.id)?.resolve(answer);
      this.#waiting.delete(answer.id);
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

  query(query: Omit<ThreadRequest, "id">): Promise<ThreadAnswer> {
    if (this.#ended !== undefined) return Promise.reject(this.#ended);
    const id = (this.#lastId += 1);
    const waiting = withResolvers<ThreadAnswer>();
    this.#waiting.set(id, waiting);
    this.#worker.postMessage({ id, ...query } satisfies ThreadRequest);
    return waiting.promise;
  }

  async close(): Promise<void> {
    if (this.#ended !== undefined) return;
    const exited = once(this.#worker, "exit");
    this.#worker.postMessage("close");
    await exited;
  }

  #end(reason: Error): void {
    this.#ended ??= reason;
    for (const { reject } of this.#waiting.values()) reject(this.#ended);
    this.#waiting.clear();
  }
}

function errorOf({ message, code }: ThreadFailure): Error {
  return Object.assign(new Error(message), { code });
}

/** What Knex hands through to this client with `raw(…).options(…)`. */
export interface ThreadOptions {
  /** See ThreadRequest. */
  readonly rows?: string | undefined;
}

/** Takes the write lock at once: a transaction that only asks for it later may find that what it has read is stale. */
class ImmediateTransaction extends SqliteTransaction {
  override begin(connection: unknown): Promise<unknown> {
    return this.query(connection, "BEGIN IMMEDIATE;");
  }
}

/** Knex's better-sqlite3 client, with its connection on a thread of its own. */
export class SqliteThreadClient extends BetterSqlite3Client {
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
    const { rows } = (query.options ?? {}) as ThreadOptions;
    const answer = await connection.query({ sql: query.sql, bindings: this._formatBindings(query.bindings), rows });
    if ("failure" in answer) throw errorOf(answer.failure);
    if ("rows" in answer) {
      query.response = answer.rows;
    } else {
      query.response = { changes: answer.changes };
      query.context = { changes: answer.changes };
    }
    return query;
  }

  override transaction(...parameters: unknown[]): Knex.Transaction {
    // Knex gives out its own Transaction class where its types promise the interface that users see.
    return new ImmediateTransaction(this, ...parameters) as unknown as Knex.Transaction;
  }
}

interface PromiseWithResolvers<Value> {
  readonly promise: Promise<Value>;
  readonly resolve: (value: Value) => void;
  readonly reject: (reason: Error) => void;
}

// Promise.withResolvers() comes with Node 22.
function withResolvers<Value>(): PromiseWithResolvers<Value> {
  let resolve!: (value: Value) => void;
  let reject!: (reason: Error) => void;
  const promise = new Promise<Value>((resolvePromise, rejectPromise) => {
    resolve = resolvePromise;
    reject = rejectPromise;
  });
  return { promise, resolve, reject };
}
