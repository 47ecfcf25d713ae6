import type BetterSqlite3 from "better-sqlite3";

// The statements of the service are few and always the same; lists with many filters and migrations
// are not worth room.
const STATEMENTS_MAX = 200;

/**
 * The prepared statements of one connection: compiling one costs more than most of them take to
 * run.
 */
export class SqliteStatements {
  readonly #connection: BetterSqlite3.Database;
  readonly #prepared = new Map<string, BetterSqlite3.Statement>();

  constructor(connection: BetterSqlite3.Database) {
    this.#connection = connection;
  }

  /** Throws what SQLite finds wrong with the statement. */
  prepare(sql: string): BetterSqlite3.Statement {
    let statement = this.#prepared.get(sql);
    if (statement === undefined) {
      statement = this.#connection.prepare(sql);
      if (this.#prepared.size < STATEMENTS_MAX) this.#prepared.set(sql, statement);
    }
    return statement;
  }
}
