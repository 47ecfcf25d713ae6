import type pg from "pg";

import { commitBatch } from "../../ledger/commit-batch.js";
import type { Committer } from "../../ledger/ports/committer.js";
import type { LedgerStore } from "../../ledger/ports/store.js";
import type { Read, Session, Transact, Write } from "../sql/engine.js";
import { type ConnectionLimits, localSettings } from "./address.js";
import type { PostgresClient } from "./client.js";
import type { KeptPlans } from "./kept-plans.js";
import { refuseUnsafe, type SessionSettings, SETTINGS_SQL } from "./settings.js";

/** The methods of `PostgresClient` that a transaction uses. */
export type PostgresConnections = Pick<PostgresClient, "acquireConnection" | "releaseConnection" | "send">;

// Transactions look rows up by key. In a new database PostgreSQL has no statistics and would read
// whole small tables. It keeps such plans for foreign keys while the tables grow.
const BEGIN = "BEGIN ISOLATION LEVEL READ COMMITTED, READ WRITE; SET LOCAL enable_seqscan = off;";

/**
 * Runs transactions on the connections of the pool. A statement waits only for results that it
 * needs. BEGIN is sent with the first reads, COMMIT with the last writes. With larger batches that
 * raised 3,500 mints a second to 7,000 (docs/adr/0013).
 *
 * If statements fail, rejects with the error of the first: the later ones only report that the
 * transaction is aborted. It does not matter which error `work` throws then.
 *
 * With `plans` PostgreSQL keeps each statement that has a binding. So there must be a fixed number
 * of them.
 */
export function postgresTransactions(
  client: PostgresConnections,
  limits: ConnectionLimits,
  plans?: KeptPlans,
): Transact {
  // Somebody may change the settings while we use the server. What they are comes with BEGIN, so it
  // costs no wait of its own.
  const settings = `${localSettings(limits)}; SELECT ${SETTINGS_SQL}`;
  return async (work) => {
    const connection = await client.acquireConnection();
    try {
      const send: SendStatement = async (sql, bindings) => {
        const name = bindings === undefined ? undefined : plans?.nameOf(sql);
        try {
          return await client.send(connection, { sql, bindings, name });
        } catch (error) {
          plans?.note(error);
          throw error;
        }
      };
      const session = new PostgresSession(send, `${BEGIN} ${plans?.settingsOn(connection) ?? ""} ${settings}`);
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
    const failure = await session.rollBack();
    throw failure === undefined ? error : failure.error;
  }
}

/** Sends a statement at once, after the statements that were sent before. */
type SendStatement = (sql: string, bindings?: readonly unknown[]) => Promise<pg.QueryResult>;

interface Failure {
  readonly error: unknown;
}

class PostgresSession implements Session {
  readonly #send: SendStatement;
  readonly #begun: Promise<unknown>;
  /** The failure of the first statement that fails, in the order of the statements. */
  #failure: Promise<Failure | undefined> = Promise.resolve(undefined);

  constructor(send: SendStatement, begin: string) {
    this.#send = send;
    this.#begun = this.#run(begin).then(refuseUnsafeSession);
    // Each member awaits it.
    this.#begun.catch(() => undefined);
  }

  async read<Row>({ sql, bindings }: Read): Promise<readonly Row[]> {
    const reading = this.#run(sql, bindings);
    await this.#begun;
    const { rows } = await reading;
    return rows as readonly Row[];
  }

  /** Resolves once the statements are sent. commit() throws their errors. */
  async write(writes: readonly Write[]): Promise<void> {
    // Before BEGIN succeeds, each statement would be a transaction of its own.
    await this.#begun;
    for (const { sql, rows } of writes) void this.#run(sql, [JSON.stringify(rows)]);
  }

  async commit(): Promise<void> {
    await this.#begun;
    const committing = this.#run("COMMIT");
    await failureOf(committing);
    const failure = await this.#failure;
    if (failure !== undefined) throw failure.error;
    // After a failed statement PostgreSQL executes COMMIT as ROLLBACK, and reports success.
    const { command } = await committing;
    if (command !== "COMMIT") throw new Error(`PostgreSQL executed COMMIT as ${command}`);
  }

  /** Returns the failure of the first failed statement. Never rejects. */
  async rollBack(): Promise<Failure | undefined> {
    await failureOf(this.#send("ROLLBACK"));
    return this.#failure;
  }

  #run(sql: string, bindings?: readonly unknown[]): Promise<pg.QueryResult> {
    const running = this.#send(sql, bindings);
    const failing = failureOf(running);
    this.#failure = this.#failure.then((earlier) => earlier ?? failing);
    return running;
  }
}

/** Throws if commits would not be durable, or if triggers would not hold. */
function refuseUnsafeSession(begun: pg.QueryResult | readonly pg.QueryResult[]): void {
  const results: readonly pg.QueryResult[] = Array.isArray(begun) ? begun : [];
  for (const settings of results.at(-1)?.rows ?? []) refuseUnsafe(settings as SessionSettings);
}

/**
 * Resolves with the error of the promise, or with undefined. The promise then counts as handled:
 * the code may await it later.
 */
function failureOf(running: Promise<unknown>): Promise<Failure | undefined> {
  return running.then(
    () => undefined,
    (error: unknown) => ({ error }),
  );
}

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
