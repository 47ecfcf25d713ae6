import type { AccountId, DestinationId, OrganizationId } from "../../domain/values/ids.js";
import type { OpenBook } from "./book-directory.js";
import type { Columns } from "./engine.js";

export type SqlRow<Of extends Columns> = Readonly<Record<keyof Of, string | number | null>>;

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

/** The mapping of one table's rows to SQL. */
export interface Table<Row> {
  readonly name: string;
  /**
   * The column that identifies a row to update, or several. The rows of a table without `updates`
   * never change.
   */
  readonly key: string | readonly string[];
  readonly columns: Columns;
  readonly insertedRow: (row: Row, place: RowPlace) => object;
  /**
   * The possible updates. The store runs the first that fits, so the narrowest comes first. Setting
   * a column makes the database update its indexes, even if the value stays the same.
   */
  readonly updates: readonly Update<Row>[];
}

export interface Update<Row> {
  readonly columns: Columns;
  readonly fits: (before: Row, after: Row) => boolean;
  /** `seq` is that of the journal row that changed the row last. 0 if none did. */
  readonly updatedRow: (row: Row, facts: BatchFacts, seq: number) => object;
}
