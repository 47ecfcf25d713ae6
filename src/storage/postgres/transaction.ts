import type pg from "pg";

import type { Read, Session, Transact, Write } from "../sql/engine.js";
import type { PostgresClient } from "./client.js";

/** The methods of `PostgresClient` that a transaction uses. */
export type PostgresConnections = Pick<PostgresClient, "acquireConnection" | "releaseConnection" | "send">;

/**
 * Runs transactions on the connections of the pool. A statement waits only for results that it
 * needs. BEGIN is sent with the first reads, COMMIT with the last writes. With larger batches that
 * raised 3,500 mints a second to 7,000 (docs/adr/0013).
 */
export function postgresTransactions(client: PostgresConnections): Transact {
  return async (work) => {
    const connection = await client.acquireConnection();
    try {
      const session = new PostgresSession((sql, bindings) => client.send(connection, sql, bindings));
      const result = await orRolledBack(session, work(session));
      await session.commit();
      return result;
    } finally {
      await client.releaseConnection(connection);
    }
  };
}

async function orRolledBack<Result>(session: PostgresSession, working: Promise<Result>): Promise<Result> {
  try {
    return await working;
  } catch (error) {
    await session.rollBack();
    throw error;
  }
}

/** Sends a statement at once, after the statements that were sent before. */
type Send = (sql: string, bindings?: readonly unknown[]) => Promise<pg.QueryResult>;

class PostgresSession implements Session {
  readonly #send: Send;
  readonly #begun: Promise<unknown>;
  readonly #writing: Promise<unknown>[] = [];

  constructor(send: Send) {
    this.#send = send;
    this.#begun = handled(send("BEGIN"));
  }

  async read({ sql, bindings }: Read): Promise<readonly unknown[]> {
    const reading = handled(this.#send(sql, bindings));
    await this.#begun;
    const { rows } = await reading;
    return rows as readonly unknown[];
  }

  /** Resolves once the statements are sent. commit() throws their errors. */
  async write(writes: readonly Write[]): Promise<void> {
    // Before BEGIN succeeds, each statement would be a transaction of its own.
    await this.#begun;
    for (const { sql, rows } of writes) this.#writing.push(handled(this.#send(sql, [JSON.stringify(rows)])));
  }

  async commit(): Promise<void> {
    // Promise.all rejects with the first failure, which is the cause. The later statements only
    // report that the transaction is aborted.
    const [{ command }] = await Promise.all([this.#send("COMMIT"), this.#begun, ...this.#writing]);
    // After a failed statement PostgreSQL executes COMMIT as ROLLBACK, and reports success.
    if (command !== "COMMIT") throw new Error(`PostgreSQL executed COMMIT as ${command}`);
  }

  /** Never rejects. */
  async rollBack(): Promise<void> {
    await this.#send("ROLLBACK").catch(() => undefined);
  }
}

/**
 * Returns the promise, which the code awaits later. Without this handler an earlier rejection would
 * count as unhandled and end the process.
 */
function handled<Result>(promise: Promise<Result>): Promise<Result> {
  promise.catch(() => undefined);
  return promise;
}
