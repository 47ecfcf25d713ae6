import KnexPostgresClient, { type QueryObject } from "knex/lib/dialects/postgres/index.js";
import pg from "pg";

// What a commit hangs on: none of them may be off.
const DURABLE_BY = ["fsync", "full_page_writes", "synchronous_commit"] as const;
const SETTINGS = [...DURABLE_BY, "transaction_read_only"] as const;

const ENDS_TRANSACTION = /^(COMMIT|ROLLBACK)/i;

/**
 * Knex's client of PostgreSQL, with connections that are looked at before they are used, and given
 * up when in doubt.
 */
export class PostgresClient extends KnexPostgresClient {
  declare acquireConnection: () => Promise<pg.Client>;
  declare releaseConnection: (connection: pg.Client) => Promise<void>;

  /** Rejects where a commit would not be safe, or not be possible. */
  override async acquireRawConnection(): Promise<pg.Client> {
    const connection = await super.acquireRawConnection();
    try {
      // Of each connection, not once at the start: behind the same address there may be another
      // server by now.
      await refuseUnsafe(connection);
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
      // Unless the server itself said no, nobody knows what it did, nor what it will answer next;
      // nor when it said no to the end of a transaction. One may be open there, and must not become
      // part of whoever would have this connection next.
      if (!(error instanceof pg.DatabaseError) || ENDS_TRANSACTION.test(query.sql)) giveUp(connection, error);
      throw error;
    }
  }

  /** Sends a statement at once, behind what this connection has not answered yet. */
  async send(connection: pg.Client, sql: string, bindings: readonly unknown[] = []): Promise<pg.QueryResult> {
    const query = await this._query(connection, { sql: this.positionBindings(sql), bindings });
    return query.response as pg.QueryResult;
  }
}

async function refuseUnsafe(connection: pg.Client): Promise<void> {
  // Null for what a server that only speaks PostgreSQL's language does not have.
  const select = SETTINGS.map((name) => `current_setting('${name}', true) AS ${name}`).join(", ");
  const { rows } = await connection.query<Record<(typeof SETTINGS)[number], string | null>>(`SELECT ${select}`);
  const [found] = rows;
  for (const name of DURABLE_BY) {
    if (found?.[name] === "off") {
      throw new Error(`PostgreSQL's ${name} is off: commits would not be safe. Turn it on and start again`);
    }
  }
  // Nor may it be read from: a standby may not know yet what the primary has acknowledged.
  if (found?.transaction_read_only === "on") throw new Error("this PostgreSQL takes no writes: it may be a standby");
}

/**
 * Has Knex's pool throw the connection away. What was sent on it before is answered, or fails in
 * its time.
 */
function giveUp(connection: pg.Client & { __knex__disposed?: unknown }, reason: unknown): void {
  connection.__knex__disposed = reason;
  // Never rejects.
  void connection.end();
}
