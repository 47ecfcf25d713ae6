import BetterSqlite3 from "better-sqlite3";
import BetterSqlite3Client, { type QueryObject } from "knex/lib/dialects/better-sqlite3/index.js";

import { SqliteStatements } from "./sqlite-statements.js";

/** Milliseconds; a reader waits only while the log is being reset or recovered. */
const BUSY_MILLIS_MAX = 5_000;

const statementsOf = new WeakMap<BetterSqlite3.Database, SqliteStatements>();

/** Knex's better-sqlite3 client for reading alone, with statements that are prepared once. */
export class SqliteReadClient extends BetterSqlite3Client {
  override acquireRawConnection(): Promise<BetterSqlite3.Database> {
    const { filename } = this.connectionSettings;
    const connection = new BetterSqlite3(filename, { readonly: true, timeout: BUSY_MILLIS_MAX });
    statementsOf.set(connection, new SqliteStatements(connection));
    return Promise.resolve(connection);
  }

  override _query(connection: BetterSqlite3.Database, query: QueryObject): Promise<QueryObject> {
    // Inside, so that what SQLite throws becomes a rejection.
    return new Promise((resolve) => {
      const statement = statementsOf.get(connection)?.prepare(query.sql);
      query.response = statement?.all(...this._formatBindings(query.bindings));
      resolve(query);
    });
  }
}
