import type pg from "pg";

import type { Read, Session, Transact, Write } from "../sql/engine.js";
import type { PostgresClient } from "./client.js";

/** The pool's connections, as Knex's client of PostgreSQL gives them out. */
export type PostgresConnections = Pick<PostgresClient, "acquireConnection" | "releaseConnection" | "send">;

/**
 * Transactions on the pool's connections. No statement waits for an answer that it does not need:
 * BEGIN goes out with the first reads, COMMIT with the last writes.
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

/** Sends a statement at once, behind those that were sent before. */
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

  /** Resolves when the statements are on their way. What becomes of them shows at the commit. */
  async write(writes: readonly Write[]): Promise<void> {
    // Without a transaction around them each would be one by itself.
    await this.#begun;
    for (const { sql, rows } of writes) this.#writing.push(handled(this.#send(sql, [JSON.stringify(rows)])));
  }

  async commit(): Promise<void> {
    // The first that fails is what went wrong: those behind it only hear that the transaction is
    // lost.
    const [{ command }] = await Promise.all([this.#send("COMMIT"), this.#begun, ...this.#writing]);
    // After a failure PostgreSQL takes a COMMIT for a ROLLBACK, and is content.
    if (command !== "COMMIT") throw new Error(`PostgreSQL answered COMMIT with ${command}`);
  }

  /** Resolves however that ends. */
  async rollBack(): Promise<void> {
    await this.#send("ROLLBACK").catch(() => undefined);
  }
}

/**
 * The promise, which somebody will ask later: until then its rejection is not one that nobody
 * handles.
 */
function handled<Result>(promise: Promise<Result>): Promise<Result> {
  promise.catch(() => undefined);
  return promise;
}
