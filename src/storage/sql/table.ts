import type { Finder } from "../../domain/decision.js";
import type { AccountId, DestinationId, OrganizationId } from "../../domain/values/ids.js";
import type { ModelName } from "../../model/tables.js";
import type { OpenBook } from "./book-directory.js";
import type { Engine } from "./engine.js";
import type { KeySelects } from "./key-selects.js";

/** What a batch knows about the rows that it writes. */
export interface BatchFacts {
  /** Returns the `seq` of the account's newest journal row, including the rows of this batch. */
  lastSeqOf(accountId: AccountId): number;
  /** Returns the salt of the data of an account's holder or of a destination, in hexadecimal. */
  personSaltOf(id: AccountId | DestinationId): string;
  bookOf(organizationId: OrganizationId): OpenBook;
}

/** Where a new row belongs. */
export interface RowPlace {
  readonly book: OpenBook;
  /** The `seq` of the journal row that created the row. 0 if none did. */
  readonly seq: number;
  /** The `seq` of the journal row that changed it last in this batch. */
  readonly changedSeq: number;
  readonly facts: BatchFacts;
}

/** A SELECT. Each parameter holds the keys of one finder: ids, or pairs of book and name. */
export interface LedgerRead {
  readonly sql: string;
  readonly finders: readonly Finder[];
  /**
   * Whether it runs once the books are locked. It must if its rows change only under the lock of
   * their book: a row that was read before may be an old one.
   */
  readonly isAfterLock?: true;
}

/** A row that a read finds, of a book or of an organization. */
export interface OwnedRow {
  readonly book?: number;
  readonly organization_id?: string;
  readonly id?: string | null;
}

/** A table that commands write: its rows, and how a batch finds, reads and writes them. */
export interface Table<Row, Read = never> {
  readonly name: ModelName;
  /** The column that identifies a row to update, or several. */
  readonly key: string | readonly string[];
  readonly insertedRow: (row: Row, place: RowPlace) => object;
  /**
   * Returns the fields that the content hash of the entry covers which created the row. They never
   * change.
   */
  readonly contentOf?: (row: Row) => readonly string[];
  /**
   * The SELECTs of the rows that a batch may read, in their order. Each row has the `book` to which
   * it belongs, or the `organization_id`.
   */
  readonly reads: (engine: Engine, keys: KeySelects) => readonly LedgerRead[];
  readonly rowOf: (read: Read, book: OpenBook) => Row;
  /** Returns whether the service wrote the row as it is. Only tables with `refusesChanged` ask. */
  readonly isAsWritten?: (read: Read, book: OpenBook, row: Row) => boolean;
  /**
   * The possible updates. The store runs the first that fits, so the narrowest comes first. Setting
   * a column makes the database update its indexes, even if the value stays the same.
   */
  readonly updates: readonly Update<Row>[];
}

export interface Update<Row> {
  /** The columns that it sets. */
  readonly sets: readonly string[];
  /** Any change when omitted. */
  readonly fits?: (before: Row, after: Row) => boolean;
  /**
   * Returns the columns of `sets` and the key. When omitted, the store takes them from
   * `insertedRow`. `seq` is that of the journal row that changed the row last. 0 if none did.
   */
  readonly updatedRow?: (row: Row, facts: BatchFacts, seq: number) => object;
  /** The rows of other tables that go with it: those whose column has the key of the row. */
  readonly deletes?: readonly { readonly table: ModelName; readonly column: string }[];
}

/** Returns whether no field differs but these. */
export function changesOnly<Row extends object>(fields: readonly (keyof Row)[]): (before: Row, after: Row) => boolean {
  const changed = new Set<PropertyKey>(fields);
  return (before, after) => {
    for (const name in after) if (before[name] !== after[name] && !changed.has(name)) return false;
    return true;
  };
}

/** Returns the columns of the row with these names. */
export function pick(row: object, names: readonly string[]): object {
  return Object.fromEntries(names.map((name) => [name, (row as Readonly<Record<string, unknown>>)[name]]));
}
