import type { StoreError } from "../../ledger/ports/store.js";

export type ColumnType = "text" | "int64";
export type Columns = Readonly<Record<string, ColumnType>>;

export interface RowChange {
  /** Of the rows that are given: the key, and what is set. */
  readonly columns: Columns;
  readonly key: string;
  /**
   * What a column becomes, from the value that is given for it; that value itself unless said
   * otherwise.
   */
  readonly becomes?: (column: string, given: string) => string;
}

/** A statement that answers rows. */
export interface Read {
  readonly sql: string;
  readonly bindings: readonly (string | number)[];
}

/** A statement, made by `insertInto` or `update`, and the rows that it is for. */
export interface Write {
  readonly sql: string;
  readonly rows: readonly object[];
}

/** Runs `work` in one database transaction and commits it; rolls it back when `work` rejects. */
export type Transact = <Result>(work: (session: Session) => Promise<Result>) => Promise<Result>;

/**
 * One database transaction. Statements run in the order in which they are given, whether or not one
 * waits for answers.
 */
export interface Session {
  read(read: Read): Promise<readonly unknown[]>;
  /** May resolve before they have run: what fails then has the transaction fail. */
  write(writes: readonly Write[]): Promise<void>;
}

/**
 * What differs between SQLite and PostgreSQL. Every statement outside of the engines is plain SQL
 * for both.
 */
export interface Engine {
  readonly name: "sqlite" | "postgres";
  /** The column type of a 64-bit integer. */
  readonly int64: string;
  /** Stands at the end of CREATE TABLE. */
  readonly tableOptions: string;
  /** Statements that make the table refuse UPDATE, DELETE and TRUNCATE. */
  readonly appendOnly: (table: string) => readonly string[];
  /**
   * Statements that undo those of `appendOnly`: for a migration, which must end with them again.
   */
  readonly changeable: (table: string) => readonly string[];
  /** Stands at the end of a SELECT whose rows are locked until the end of the transaction. */
  readonly forUpdate: string;
  /**
   * A table expression named `input`, made of one parameter that holds a JSON array of objects: as
   * many rows as one likes, always one parameter.
   */
  readonly input: (columns: Columns) => string;
  /** A SELECT of one column of texts, made of one parameter that holds a JSON array of strings. */
  readonly list: string;
  /** The SQL of a Write that inserts rows. */
  readonly insertInto: (table: string, columns: Columns) => string;
  /** The SQL of a Write that changes the rows whose key is given. */
  readonly update: (table: string, change: RowChange) => string;
  /** Says what a failure of the driver means for a batch. */
  readonly storeErrorOf: (error: unknown) => StoreError;
}
