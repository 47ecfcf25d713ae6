import KnexPostgresClient, { type QueryObject } from "knex/lib/dialects/postgres/index.js";
import pg from "pg";

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

  override async _query(connection: pg.Client, query: QueryObject): Promise<QueryObject> {
    try {
      return await super._query(connection, query);
    } catch (error) {
      // If the error did not come from PostgreSQL, the state of the connection is unknown. If the
      // end of a transaction failed, the transaction may still be open. Discard the connection in
      // both cases: otherwise its next user would join that transaction. A statement that the
      // connection keeps, but cannot run, would fail each time.
      if (!(error instanceof pg.DatabaseError) || ENDS_TRANSACTION.test(query.sql) || refusesKeptPlan(error))
        giveUp(connection, error);
      throw error;
    }
  }

  /**
   * Sends a statement at once, although earlier statements have not returned yet. PostgreSQL keeps
   * the plan of one with a name.
   */
  async send(connection: pg.Client, { sql, bindings = [], name }: SentStatement): Promise<pg.QueryResult> {
    const options = name === undefined ? undefined : { name };
    const query = await this._query(connection, { sql: this.positionBindings(sql), bindings, options });
    return query.response as pg.QueryResult;
  }
}

export interface SentStatement {
  readonly sql: string;
  readonly bindings?: readonly unknown[] | undefined;
  readonly name?: string | undefined;
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
