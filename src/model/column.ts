/** Rows give the value of a `bytes` column in hexadecimal. A SELECT returns a Buffer. */
export type ColumnType = "text" | "int64" | "bytes";

/** A column of a table. It is data: rows, statements, rights and moves are derived from it. */
export interface Column {
  readonly type: ColumnType;
  readonly isNullable: boolean;
  /** Whether a server changes it after the insert. The owner of the tables may change any. */
  readonly isChanged: boolean;
  /** Whether an INSERT leaves it to the database's default. */
  readonly isDefaulted: boolean;
  /** Whether it says when work is looked at next. To look earlier does no harm. */
  readonly isDue?: true;
}

const PLAIN = { isNullable: false, isChanged: false, isDefaulted: false } as const;
export const text = { type: "text", ...PLAIN } as const satisfies Column;
export const int64 = { type: "int64", ...PLAIN } as const satisfies Column;
export const bytes = { type: "bytes", ...PLAIN } as const satisfies Column;

export function orNull<Of extends Column>(column: Of): Omit<Of, "isNullable"> & { readonly isNullable: true } {
  return { ...column, isNullable: true };
}

export function changed<Of extends Column>(column: Of): Omit<Of, "isChanged"> & { readonly isChanged: true } {
  return { ...column, isChanged: true };
}

export function defaulted<Of extends Column>(column: Of): Omit<Of, "isDefaulted"> & { readonly isDefaulted: true } {
  return { ...column, isDefaulted: true };
}

export function due<Of extends Column>(column: Of): Of & { readonly isDue: true } {
  return { ...column, isDue: true };
}

/** Whose a table's rows are: `column` names the owner. No book takes those of `database` along. */
export type Owner =
  | { readonly of: "organization" | "book" | "endpoint" | "transaction"; readonly column: string }
  | { readonly of: "database" };

export interface TableModel {
  readonly owner: Owner;
  /** The columns that name one row. A move reads the rows in this order. */
  readonly key: readonly string[];
  /** A column that each database numbers by itself. */
  readonly numbered?: string;
  /** Refuses UPDATE and DELETE: its rows are evidence. */
  readonly isAppendOnly?: true;
  /** The columns that `mac` covers. Nobody who has the database alone can write such a row. */
  readonly bound?: readonly string[];
  /** A server may delete its rows. */
  readonly isDeletedFrom?: true;
  readonly columns: Readonly<Record<string, Column>>;
}

type ValueOf<Of extends Column, Bytes> =
  | (Of["type"] extends "int64" ? number : Of["type"] extends "bytes" ? Bytes : string)
  | (Of["isNullable"] extends true ? null : never);

/** A row of a table, as both drivers read it. */
export type RowOf<Of extends TableModel, Bytes = Buffer> = {
  readonly [Name in keyof Of["columns"]]: ValueOf<Of["columns"][Name], Bytes>;
};

/** The columns that an INSERT names. */
export type InsertedName<Of extends TableModel> = {
  [Name in keyof Of["columns"] & string]: Of["columns"][Name]["isDefaulted"] extends true ? never : Name;
}[keyof Of["columns"] & string];

/** A row to insert, with bytes in hexadecimal. */
export type InsertedRow<Of extends TableModel> = Pick<RowOf<Of, string>, InsertedName<Of>>;

/** The columns that a server changes, but those that an INSERT leaves to the database. */
export function changedNamesOf<Of extends TableModel>({ columns }: Of): ChangedName<Of>[] {
  return Object.entries(columns)
    .filter(([, { isChanged, isDefaulted }]) => isChanged && !isDefaulted)
    .map(([name]) => name as ChangedName<Of>);
}

type ChangedName<Of extends TableModel> = {
  [Name in InsertedName<Of>]: Of["columns"][Name]["isChanged"] extends true ? Name : never;
}[InsertedName<Of>];

type TypesOf<Of extends TableModel, Name extends keyof Of["columns"]> = {
  readonly [Each in Name]: Of["columns"][Each]["type"];
};

/** Returns the types of the columns that an INSERT names. */
export function insertedTypesOf<Of extends TableModel>(table: Of): TypesOf<Of, InsertedName<Of>> {
  const names = Object.keys(table.columns).filter((name) => table.columns[name]?.isDefaulted === false);
  return typesOf(table, names as InsertedName<Of>[]);
}

/** Returns the types of the named columns. */
export function typesOf<Of extends TableModel, Name extends keyof Of["columns"] & string>(
  { columns }: Of,
  names: readonly Name[],
): TypesOf<Of, Name> {
  return Object.fromEntries(names.map((name) => [name, columns[name]?.type])) as never;
}
