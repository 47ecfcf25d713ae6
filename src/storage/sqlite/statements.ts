import type BetterSqlite3 from "better-sqlite3";

// The service has few distinct statements. Lists with many filters and migrations do not fill the
// cache further.
const STATEMENTS_MAX = 200;

// SQLite compiles a statement again when the bindings change that its planner looked at, and
// better-sqlite3 clears all bindings after each execution. The planner looks at most joins, ranges
// and LIMITs. It does not look behind a unary plus, which changes neither the value nor the plan:
// GetAccount's statement takes 6 µs where it took 55 (docs/adr/0056).
function hidePlaceholders(sql: string): string {
  return sql.replaceAll(/'[^']*'|\?/g, (part) => (part === "?" ? "+?" : part));
}

/**
 * Caches the prepared statements of one connection. Compiling a statement takes longer than running
 * most of them. Reads by prepared statements raised GetAccount from 0.36 to 0.48 of an empty call's
 * rate (docs/performance.md).
 */
export class SqliteStatements {
  readonly #connection: BetterSqlite3.Database;
  readonly #prepared = new Map<string, BetterSqlite3.Statement>();

  constructor(connection: BetterSqlite3.Database) {
    this.#connection = connection;
  }

  /** Throws the error of SQLite if the statement is invalid. */
  prepare(sql: string): BetterSqlite3.Statement {
    let statement = this.#prepared.get(sql);
    if (statement === undefined) {
      statement = this.#connection.prepare(hidePlaceholders(sql));
      if (this.#prepared.size < STATEMENTS_MAX) this.#prepared.set(sql, statement);
    }
    return statement;
  }
}
