import type { Owner, RowOf, TableModel } from "../../model/column.js";
import type { ModelName } from "../../model/tables.js";
import type { Audit } from "../audit.js";
import { guarded } from "../guarded.js";
import type { AuditedBook } from "./book.js";
import { type AuditedJournalRow, newerRows } from "./journal-rows.js";
import type { AuditPart } from "./part.js";

/** A table of a book, and what the journal says about the things that its rows describe. */
interface TableOfBook<Row, Derived> {
  readonly table: ModelName;
  /** What the rows of the journal up to the head say, by the id of the thing. */
  readonly derived: Map<string, Derived>;
  /** The rows of the table, read after the head. */
  readonly rows: AsyncIterable<readonly Row[]>;
  readonly idOf: (row: Row) => string;
  /** Returns the newest row of the journal about a thing. It is the place of unreadable values. */
  readonly seqOf?: (derived: Derived) => number;
  /** Returns the `seq` of the last row of the journal that the row of the table can reflect. */
  readonly asOf: (row: Row, derived: Derived | undefined) => number;
  /** Takes a row of the journal into `derived`. */
  readonly follow: (row: AuditedJournalRow) => void;
  /**
   * Returns the id of the thing that a row of the journal is about. Absent if all rows of the table
   * are of one moment: then all rows of the journal up to that moment are followed.
   */
  readonly subjectOf?: (row: AuditedJournalRow) => string | null;
  /** Compares one row of the table with the journal. One of the two can be missing. */
  readonly compare: (id: string, derived: Derived | undefined, row: Row | undefined) => void;
}

/** A row of a table, and the last row of the journal that it can reflect. */
interface SetAsideRow<Row> {
  readonly row: Row;
  readonly asOf: number;
}

/** More rows in memory at once would cost more than reading the newer rows again. */
const MOVED_MAX = 20_000;

/**
 * Compares each row of a table with what the journal says, and each thing of the journal with a row
 * of the table. A server may have changed the table after the head of the audit was read: rows that
 * reflect newer rows of the journal are compared after these were followed, too.
 */
export async function compareTable<Row, Derived>(
  audit: Audit,
  book: AuditedBook,
  { table, derived, rows, idOf, seqOf, asOf, follow, subjectOf, compare }: TableOfBook<Row, Derived>,
): Promise<void> {
  const compareOne = (id: string, row: Row | undefined): void => {
    const ofJournal = derived.get(id);
    derived.delete(id);
    const seq = ofJournal === undefined ? undefined : seqOf?.(ofJournal);
    guarded(book.findings, { seq, table, id }, () => {
      compare(id, ofJournal, row);
    });
  };
  const moved = new Map<string, SetAsideRow<Row>>();
  const compareMoved = async (): Promise<void> => {
    if (moved.size === 0) return;
    const newest = Math.max(...[...moved.values()].map((each) => each.asOf));
    for await (const row of newerRows(audit, book.row)) {
      const upTo = subjectOf === undefined ? newest : (moved.get(subjectOf(row) ?? "")?.asOf ?? 0);
      if (row.seq <= upTo) follow(row);
    }
    for (const [id, { row }] of moved) compareOne(id, row);
    moved.clear();
  };
  for await (const slice of rows) {
    for (const row of slice) {
      const id = idOf(row);
      const last = asOf(row, derived.get(id));
      if (last > (book.row.head ?? 0)) moved.set(id, { row, asOf: last });
      else compareOne(id, row);
    }
    if (moved.size >= MOVED_MAX) await compareMoved();
  }
  await compareMoved();
  for (const id of derived.keys()) compareOne(id, undefined);
}

/** A table of which each book or organization has few rows. */
type SmallTable<Of extends TableModel, Derived> = Omit<
  TableOfBook<RowOf<Of>, Derived>,
  "rows" | "seqOf" | "asOf" | "subjectOf"
> & { readonly owner: Owner & { readonly column: string } };

/** Follows all rows of the journal, and then compares the rows of a small table with them. */
export function smallTableAudit<Of extends TableModel, Derived extends { readonly seq: number }>(
  audit: Audit,
  book: AuditedBook,
  { owner, ...rules }: SmallTable<Of, Derived>,
): AuditPart {
  const { table, follow } = rules;
  const seqOf = ({ seq }: Derived): number => seq;
  const asOf = ({ book_seq: bookSeq }: RowOfMoment<Of>): number => bookSeq;
  const rows = (): AsyncIterable<readonly RowOfMoment<Of>[]> => rowsOfMoment<Of>(audit, book, { table, owner });
  return { table, row: follow, end: () => compareTable(audit, book, { ...rules, rows: rows(), seqOf, asOf }) };
}

/** A row, and the last row of its book at the moment in which it was read. */
type RowOfMoment<Of extends TableModel> = RowOf<Of> & { readonly book_seq: number };

/** One statement reads all rows and the last row of the book, so that all are of one moment. */
async function* rowsOfMoment<Of extends TableModel>(
  { engine, rows }: Audit,
  { row: { number, organization_id: organizationId } }: AuditedBook,
  { table, owner }: Pick<SmallTable<Of, unknown>, "table" | "owner">,
): AsyncGenerator<readonly RowOfMoment<Of>[], void, void> {
  const head = `(SELECT COALESCE(MAX(j.seq), 0) FROM ${engine.table("journal")} j WHERE j.book = ?)`;
  yield await rows<RowOfMoment<Of>>(
    `SELECT x.*, ${head} AS book_seq FROM ${engine.table(table)} x WHERE x.${owner.column} = ?`,
    [number, owner.of === "book" ? number : organizationId],
  );
}
