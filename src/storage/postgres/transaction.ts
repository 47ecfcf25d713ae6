import type pg from "pg";

import { atEndOfTask, MicroBatch } from "../../../runtime/micro-batch.js";
import { commitBatch } from "../../ledger/commit-batch.js";
import type { Committer } from "../../ledger/ports/committer.js";
import type { LedgerStore } from "../../ledger/ports/store.js";
import type { Read, Session, Transact, Write } from "../sql/engine.js";
import { type ConnectionLimits, type Settings, settingsOf } from "./address.js";
import type { PostgresClient } from "./client.js";
import type { SentStatement } from "./journey.js";
import { type KeptPlans, LOOK_UPS_OF_KEPT_PLANS } from "./kept-plans.js";
import { refuseUnsafe, type SessionSettings, SETTINGS_SQL } from "./settings.js";

/** The methods of `PostgresClient` that a transaction uses. */
export type PostgresConnections = Pick<PostgresClient, "acquireConnection" | "releaseConnection" | "send">;

const BEGIN: SentStatement = { sql: "BEGIN ISOLATION LEVEL READ COMMITTED, READ WRITE" };
const COMMIT: SentStatement = { sql: "COMMIT" };
const ROLLBACK: SentStatement = { sql: "ROLLBACK" };
const DISCARD_PLANS: SentStatement = { sql: "DISCARD PLANS" };

// Transactions look rows up by key. In a new database PostgreSQL has no statistics and would read
// whole small tables. It keeps such plans for foreign keys while the tables grow.
const LOOK_UPS: Settings = { enable_seqscan: "off" };

/**
 * Runs transactions on the connections of the pool. A statement waits only for results that it
 * needs. BEGIN travels with the first reads, COMMIT with the last writes. With larger batches that
 * raised 3,500 mints a second to 7,000 (docs/adr/0013).
 *
 * If statements fail, rejects with the error of the first: the later ones only report that the
 * transaction is aborted. It does not matter which error `work` throws then.
 *
 * With `plans` PostgreSQL keeps each statement that has bindings. So there must be a fixed number
 * of them.
 */
export function postgresTransactions(
  client: PostgresConnections,
  limits: ConnectionLimits,
  plans?: KeptPlans,
): Transact {
  const unkept = { sql: settingSelect({ ...LOOK_UPS, ...settingsOf(limits) }) };
  const kept = settingSelect({ ...LOOK_UPS, ...LOOK_UPS_OF_KEPT_PLANS, ...settingsOf(limits) });
  const named = (statement: SentStatement): SentStatement =>
    statement.values === undefined ? statement : { ...statement, name: plans?.nameOf(statement.sql) };
  const beginOn = (connection: object): readonly SentStatement[] => {
    const name = plans?.nameOf(kept);
    if (name === undefined) return [BEGIN, unkept];
    return [BEGIN, ...(plans?.areOldOn(connection) === true ? [DISCARD_PLANS] : []), { sql: kept, name }];
  };
  return async (work) => {
    const connection = await client.acquireConnection();
    try {
      const send: Send = async (statements) => {
        try {
          return await client.send(connection, statements.map(named));
        } catch (error) {
          plans?.note(error);
          throw error;
        }
      };
      const session = new PostgresSession(send, beginOn(connection));
      try {
        const result = await work(session);
        await session.commit();
        return result;
      } catch (error) {
        throw await session.rollBack(error);
      }
    } finally {
      await client.releaseConnection(connection);
    }
  };
}

/**
 * Returns a SELECT that sets the settings until the end of the transaction, and finds those that
 * somebody may have changed while we use the server.
 */
function settingSelect(settings: Settings): string {
  const set = Object.entries(settings).map(([name, value]) => `set_config('${name}', '${value}', true)`);
  return `SELECT ${set.join(", ")}, ${SETTINGS_SQL}`;
}

/** Sends statements in one message, after those that were sent before. */
type Send = (statements: readonly SentStatement[]) => Promise<readonly pg.QueryResult[]>;

interface Waiting {
  readonly statement: SentStatement;
  readonly resolve: (result: pg.QueryResult) => void;
  readonly reject: (error: unknown) => void;
}

class PostgresSession implements Session {
  readonly #send: Send;
  // The statements of one task travel together.
  readonly #waiting = new MicroBatch<Waiting>({
    schedule: atEndOfTask,
    process: (waiting) => void this.#travel(waiting),
  });
  readonly #begun: Promise<void>;
  /** The error of the first statement that failed. */
  #failure: { readonly error: unknown } | undefined;

  constructor(send: Send, begin: readonly SentStatement[]) {
    this.#send = send;
    this.#begun = Promise.all(begin.map((statement) => this.#run(statement))).then(refuseUnsafeSession);
    // Each member awaits it.
    this.#begun.catch(() => undefined);
  }

  async read<Row>({ sql, bindings }: Read): Promise<readonly Row[]> {
    const reading = this.#run({ sql, values: bindings });
    await this.#begun;
    const { rows } = await reading;
    return rows as readonly Row[];
  }

  /** Resolves before the statements are sent. commit() throws their errors. */
  async write(writes: readonly Write[]): Promise<void> {
    // Nothing is written before it is known that commits are durable.
    await this.#begun;
    for (const { sql, rows } of writes) void this.#run({ sql, values: [JSON.stringify(rows)] });
  }

  async commit(): Promise<void> {
    await this.#begun;
    const { command } = await this.#run(COMMIT);
    // PostgreSQL executes COMMIT as ROLLBACK after a failure in an earlier message, and reports
    // success.
    if (this.#failure !== undefined) throw this.#failure.error;
    if (command !== "COMMIT") throw new Error(`PostgreSQL executed COMMIT as ${command}`);
  }

  /** Returns the error of the first failed statement, and `error` if none failed. Never rejects. */
  async rollBack(error: unknown): Promise<unknown> {
    // By itself: PostgreSQL skips what travels behind a failure.
    this.#waiting.flush();
    await this.#send([ROLLBACK]).catch(() => undefined);
    return this.#failure === undefined ? error : this.#failure.error;
  }

  #run(statement: SentStatement): Promise<pg.QueryResult> {
    const running = new Promise<pg.QueryResult>((resolve, reject) => {
      this.#waiting.add({ statement, resolve, reject });
    });
    // `#failure` keeps the error for those that nobody awaits.
    running.catch(() => undefined);
    return running;
  }

  async #travel(waiting: readonly Waiting[]): Promise<void> {
    try {
      const results = await this.#send(waiting.map(({ statement }) => statement));
      for (const [index, result] of results.entries()) waiting[index]?.resolve(result);
    } catch (error) {
      this.#failure ??= { error };
      for (const { reject } of waiting) reject(error);
    }
  }
}

/** Throws if commits would not be durable, or if triggers would not hold. */
function refuseUnsafeSession(begun: readonly pg.QueryResult[]): void {
  for (const settings of begun.at(-1)?.rows ?? []) refuseUnsafe(settings as SessionSettings);
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
