import type { StoreError } from "../../ledger/ports/store.js";

export type ColumnType = "text" | "int64";
export type Columns = Readonly<Record<string, ColumnType>>;

export interface RowChange {
  /** The columns of the given rows: the key, and the columns to set. */
  readonly columns: Columns;
  readonly key: string;
  /** Returns the SQL of a column's new value. Defaults to the given value. */
  readonly becomes?: (column: string, given: string) => string;
}

/** A statement that returns rows. */
export interface Read {
  readonly sql: string;
  readonly bindings: readonly (string | number)[];
}

/** A statement that `insertInto` or `update` made, and its rows. */
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
  read(read: Read): Promise<readonly unknown[]>;
  /**
   * May resolve before the statements have run. The error of a failed statement surfaces at the
   * commit.
   */
  write(writes: readonly Write[]): Promise<void>;
}

/** The differences between SQLite and PostgreSQL. All SQL outside the engines runs on both. */
export interface Engine {
  readonly name: "sqlite" | "postgres";
  /** The column type of a 64-bit integer. */
  readonly int64: string;
  /** The clause at the end of CREATE TABLE. */
  readonly tableOptions: string;
  /** Returns statements that make the table refuse UPDATE, DELETE and TRUNCATE. */
  readonly appendOnly: (table: string) => readonly string[];
  /**
   * Returns statements that undo `appendOnly`, for a migration. The migration must end with the
   * statements of `appendOnly`.
   */
  readonly changeable: (table: string) => readonly string[];
  /** The clause at the end of a SELECT that locks its rows until the end of the transaction. */
  readonly forUpdate: string;
  /**
   * Returns a table expression named `input`. Its only parameter is a JSON array of objects, one
   * object for each row.
   */
  readonly input: (columns: Columns) => string;
  /** A SELECT of one text column. Its only parameter is a JSON array of strings. */
  readonly list: string;
  /** Returns the SQL of a Write that inserts rows. */
  readonly insertInto: (table: string, columns: Columns) => string;
  /** Returns the SQL of a Write that updates the rows with the given keys. */
  readonly update: (table: string, change: RowChange) => string;
  /** Classifies an error of the driver: see StoreError. */
  readonly storeErrorOf: (error: unknown) => StoreError;
}
