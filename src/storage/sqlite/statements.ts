import type BetterSqlite3 from "better-sqlite3";

import type { Read, Transact, Write } from "../sql/engine.js";

// An INSERT of 8 rows costs 0.73 of 8 INSERTs (docs/adr/0008). The rest goes one by one, so a table
// has two statements.
const ROWS_TOGETHER = 8;

// The service has few distinct statements. Lists with many filters and migrations do not fill the
// cache further.
const STATEMENTS_MAX = 200;

// SQLite compiles a statement again when the bindings change that its planner looked at, and
// better-sqlite3 clears all bindings after each execution. The planner looks at most joins, ranges
// and LIMITs. It does not look behind a unary plus, which changes neither the value nor the plan:
// GetAccount's statement takes 6 µs where it took 55 (docs/adr/0008).
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
  readonly #rowStatements = new Map<string, RowStatements>();

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

  /** Throws if a row has no value for a column, or the error of SQLite. */
  write({ sql, rows }: Write): void {
    let statements = this.#rowStatements.get(sql);
    if (statements === undefined) {
      statements = rowStatementsOf(sql);
      this.#rowStatements.set(sql, statements);
    }
    const { columns, one, together } = statements;
    const valuesOf = (row: object): unknown[] => columns.map((column) => valueOf(row, column));
    const alone = together === undefined ? rows.length : rows.length % ROWS_TOGETHER;
    for (const row of rows.slice(0, alone)) this.prepare(one).run(valuesOf(row));
    if (together === undefined) return;
    for (let from = alone; from < rows.length; from += ROWS_TOGETHER) {
      this.prepare(together).run(rows.slice(from, from + ROWS_TOGETHER).flatMap(valuesOf));
    }
  }
}

/** The statements of one Write. They take the values of a row in the order of the columns. */
interface RowStatements {
  readonly columns: readonly string[];
  readonly one: string;
  /** Writes several rows. Undefined for an UPDATE. */
  readonly together: string | undefined;
}

/** Returns the statements that run for a Write with this SQL. */
export function rowStatementsOf(sql: string): RowStatements {
  const columns = [...sql.matchAll(/@(\w+)/g)].map(([, name = ""]) => name);
  const one = sql.replaceAll(/@\w+/g, "?");
  const [insert, row] = one.split(" VALUES ");
  const together = row && `${insert ?? ""} VALUES ${Array(ROWS_TOGETHER).fill(row).join(", ")}`;
  return { columns, one, together };
}

/** SQLite would store NULL for undefined. */
function valueOf(row: object, column: string): unknown {
  const value = (row as Readonly<Record<string, unknown>>)[column];
  if (value === undefined) throw new Error(`a row has no value for ${column}`);
  return value;
}

/**
 * Runs transactions on this connection, one at a time. `work` runs on the thread of the connection.
 */
export function sqliteTransaction(connection: BetterSqlite3.Database, statements: SqliteStatements): Transact {
  // Takes the write lock at once. A transaction that takes it later fails if another process wrote
  // after its first read.
  const begin = (): unknown => statements.prepare("BEGIN IMMEDIATE").run();
  const commit = (): unknown => statements.prepare("COMMIT").run();
  const select = ({ sql, bindings }: Read): unknown[] => statements.prepare(sql).all(...bindings);
  const write = (writes: readonly Write[]): void => {
    for (const one of writes) statements.write(one);
  };

  return async (work) => {
    begin();
    try {
      const result = await work({
        read: <Row>(one: Read) => settled(() => select(one) as readonly Row[]),
        write: (writes) =>
          settled(() => {
            write(writes);
          }),
      });
      commit();
      return result;
    } catch (error) {
      // SQLite has already rolled back after some errors, such as a full disk.
      if (connection.inTransaction) statements.prepare("ROLLBACK").run();
      throw error;
    }
  };
}

/** Runs the synchronous work and returns a promise. An exception becomes a rejection. */
function settled<Result>(work: () => Result): Promise<Result> {
  return new Promise((resolve) => {
    resolve(work());
  });
}
