import KnexPostgresClient, { type QueryObject } from "knex/lib/dialects/postgres/index.js";
import pg from "pg";

import { type SentStatement, travel } from "./journey.js";
import { refusesKeptPlan } from "./kept-plans.js";
import { refuseUnsafe, type SessionSettings, SETTINGS_SQL } from "./settings.js";

const ENDS_TRANSACTION = /^(COMMIT|ROLLBACK)/i;

/**
 * The PostgreSQL client of Knex. It checks each connection before the first use, and discards it if
 * its state is unknown.
 */
export class PostgresClient extends KnexPostgresClient {
  declare acquireConnection: () => Promise<pg.Client>;
  declare releaseConnection: (connection: pg.Client) => Promise<void>;
  readonly onlyReads: boolean = false;
  readonly #positionedByName = new Map<string, string>();

  /** Rejects if commits on this connection would fail, or would not be durable. */
  override async acquireRawConnection(): Promise<pg.Client> {
    const connection = await super.acquireRawConnection();
    try {
      // Checks every new connection, not only the first. Another server may have taken over the
      // address.
      const { rows } = await connection.query<SessionSettings>(`SELECT ${SETTINGS_SQL}`);
      for (const settings of rows) refuseUnsafe(settings, this);
      return connection;
    } catch (error) {
      await connection.end();
      throw error;
    }
  }

  override _query(connection: pg.Client, query: QueryObject): Promise<QueryObject> {
    return orGivenUp(connection, query.sql, super._query(connection, query));
  }

  /** Sends statements together, although earlier ones have not returned yet: see `travel`. */
  send(connection: pg.Client, statements: readonly SentStatement[]): Promise<readonly pg.QueryResult[]> {
    const sent = statements.map((statement) => ({ ...statement, sql: this.#positioned(statement) }));
    // Of a COMMIT in company nobody knows whether it was the one that failed: ROLLBACK follows.
    return orGivenUp(connection, statements[0]?.sql, travel(connection, sent));
  }

  /** There is a fixed number of statements with names. */
  #positioned({ sql, name }: SentStatement): string {
    if (name === undefined) return this.positionBindings(sql);
    let positioned = this.#positionedByName.get(name);
    if (positioned === undefined) this.#positionedByName.set(name, (positioned = this.positionBindings(sql)));
    return positioned;
  }
}

async function orGivenUp<Result>(
  connection: pg.Client,
  sql: string | undefined,
  running: Promise<Result>,
): Promise<Result> {
  try {
    return await running;
  } catch (error) {
    // If the error did not come from PostgreSQL, the state of the connection is unknown. If the end
    // of a transaction failed, the transaction may still be open. Discard the connection in both
    // cases: otherwise its next user would join that transaction. A statement that the connection
    // keeps, but cannot run, would fail each time.
    if (!(error instanceof pg.DatabaseError) || ENDS_TRANSACTION.test(sql ?? "") || refusesKeptPlan(error))
      giveUp(connection, error);
    throw error;
  }
}

/** A client for reads alone, which a hot standby may serve. */
export class ReadingPostgresClient extends PostgresClient {
  override readonly onlyReads = true;
}

/**
 * Makes the pool of Knex destroy the connection. Statements that were already sent still succeed or
 * fail.
 */
function giveUp(connection: pg.Client & { __knex__disposed?: unknown }, reason: unknown): void {
  connection.__knex__disposed = reason;
  // This promise never rejects.
  void connection.end();
}
