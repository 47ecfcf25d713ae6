import type { StoreError } from "../../ledger/ports/store.js";
import type { ColumnType } from "../../model/column.js";

export type Columns = Readonly<Record<string, ColumnType>>;

export interface RowChange {
  /** The columns of the given rows: those of the key, and those to set. */
  readonly columns: Columns;
  readonly key: string | readonly string[];
}

export type Binding = string | number | Uint8Array;

/** A statement that returns rows. */
export interface Read {
  readonly sql: string;
  readonly bindings: readonly Binding[];
}

/** A statement that `insertInto`, `update` or `deleteFrom` made, and its rows. */
export interface Write {
  readonly sql: string;
  readonly rows: readonly object[];
}

/**
 * Runs `work` in one database transaction and commits it. Rolls the transaction back if `work`
 * rejects.
 */
export type Transact = <Result>(work: (session: Session) => Promise<Result>) => Promise<Result>;

/**
 * One database transaction. It runs the statements in the order of the calls, even if the caller
 * does not await them.
 */
export interface Session {
  read<Row>(read: Read): Promise<readonly Row[]>;
  /**
   * May resolve before the statements have run. The error of a failed statement surfaces at the
   * commit.
   */
  write(writes: readonly Write[]): Promise<void>;
}

/** The differences between SQLite and PostgreSQL. All SQL outside the engines runs on both. */
export interface Engine {
  readonly name: "sqlite" | "postgres";
  /** The schema of all tables. Undefined for an engine without schemas. */
  readonly schema: string | undefined;
  /** Returns the name of a table, with its schema. */
  readonly table: (name: string) => string;
  /** The column type of a 64-bit integer. */
  readonly int64: string;
  /** The type and constraint of a column that numbers the rows of its table, as its primary key. */
  readonly rowNumber: string;
  /** The column type of bytes. */
  readonly bytes: string;
  /**
   * Returns an expression: the bytes of a column in hexadecimal. The driver of SQLite reads text
   * faster than bytes.
   */
  readonly hex: (column: string) => string;
  /** Returns an expression: the bytes of a text in hexadecimal. The inverse of `hex`. */
  readonly unhex: (expression: string) => string;
  /** A SELECT with the columns of our tables: `table`, `column` and `type`. */
  readonly columnsSql: string;
  /** The clause at the end of CREATE TABLE. */
  readonly tableOptions: string;
  /**
   * Returns the clause for a table whose rows change all the time. `percent` is how full a page
   * becomes before rows go to the next one. A new version of a row on the same page needs no new
   * index entries.
   */
  readonly changingTableOptions: (percent: number) => string;
  /** The clause for a table that is stored in the order of its primary key. */
  readonly clusteredTableOptions: string;
  /** Returns statements that make the table refuse UPDATE, DELETE and TRUNCATE. */
  readonly appendOnly: (table: string) => readonly string[];
  /** Returns statements that let this transaction delete rows of such a table, and the contrary. */
  readonly deletable: (table: string) => { readonly allow: string; readonly refuse: string };
  /**
   * Returns statements that keep the values of the columns out of the database's statistics. An
   * erasure would not remove them from there.
   */
  readonly withoutStatistics: (table: string, columns: readonly string[]) => readonly string[];
  /**
   * A SELECT that waits until no other transaction has run it. Its lock is that of the whole
   * database, and ends with the transaction.
   */
  readonly administrationLock: string;
  /**
   * Such a SELECT for commits that change an account at a rail. They hold the lock of their book
   * already, for which somebody with the other lock may wait.
   */
  readonly railAccountsLock: string;
  /** Returns an expression for FROM: the rows of a table in all cells of the database. */
  readonly tableOfAllCells: (table: string) => string;
  /**
   * A statement that writes to the disk at the commit, and changes nothing. A server's role may run
   * it.
   */
  readonly trialWrite: string;
  /**
   * Returns the clause after a table in FROM that makes it be read along the index. SQLite has no
   * statistics, and would rather choose a unique index. Empty where the engine chooses well.
   */
  readonly indexedBy: (index: string) => string;
  /**
   * Returns a condition: the column has a value that the SELECT finds. A SELECT that locks rows
   * must use it in place of IN. PostgreSQL checks a row again after it has waited for its lock. It
   * may then leave the row out, if the condition is a join.
   */
  readonly within: (column: string, select: string) => string;
  /**
   * Returns the end of a SELECT from `input`: for each of its rows it looks up the rows of a table
   * that meet the condition, whatever the planner knows of that table. `joins` follow the table.
   */
  readonly lookedUp: (table: string, alias: string, condition: string, joins?: string) => string;
  /** The clause at the end of a SELECT that locks its rows until the end of the transaction. */
  readonly forUpdate: string;
  /**
   * An expression: the time of the database when the transaction began, in Unix milliseconds. NULL
   * if the database shares the clock of this machine.
   */
  readonly begunAt: string;
  /**
   * An expression: the time of the database, in Unix milliseconds. All servers of one database have
   * the same.
   */
  readonly nowMillis: string;
  /**
   * Returns a table expression named `input`. Its only parameter is a JSON array of objects, one
   * object for each row.
   */
  readonly input: (columns: Columns) => string;
  /**
   * Returns an expression: a JSON text with an array of objects, one object for each row. `rows`
   * comes after FROM, and names its table `alias`. Without rows the value is NULL or an empty
   * array.
   */
  readonly jsonRows: (alias: string, columns: Columns, rows: string) => string;
  /**
   * Returns a SELECT as a part of a UNION ALL that has the same order and limit. PostgreSQL knows
   * the order of a part only from the part itself. SQLite allows none there, and needs none.
   */
  readonly unionPart: (select: string, of: { readonly order: string; readonly limit: number }) => string;
  /**
   * Returns a table expression with a text column `value`: the items of a JSON array. An item that
   * is itself an array has the text that it has in the JSON.
   */
  readonly jsonItems: (json: string) => string;
  /** Returns the SQL of a Write that inserts rows. */
  readonly insertInto: (table: string, columns: Columns) => string;
  /** Returns the SQL of a Write that updates the rows with the given keys. */
  readonly update: (table: string, change: RowChange) => string;
  /** Returns the SQL of a Write that deletes the rows whose column has the `key` of a given row. */
  readonly deleteFrom: (table: string, column: string, key: string) => string;
  /** Whether the driver reports that a table of the statement does not exist. */
  readonly isMissingTable: (error: unknown) => boolean;
  /** Classifies an error of the driver: see StoreError. */
  readonly storeErrorOf: (error: unknown) => StoreError;
}
