import type { JournalKind } from "../../domain/journal.js";
import type { Audit } from "../audit.js";
import { slicesAlongSeq } from "../slices.js";
import type { AuditedBook } from "./book.js";
import type { AuditedJournalRow } from "./journal-rows.js";
import type { AuditPart } from "./part.js";
import { compareTable } from "./table-audit.js";

/** The rules of things that one row of the journal begins, and at most one ends. */
interface BegunAndEndedRules<Row> {
  readonly table: "freezes" | "destinations";
  readonly ended: JournalKind;
  /** Returns the id of the thing that a row of the journal is about. Null if it is about none. */
  readonly subjectOf: (row: AuditedJournalRow) => string | null;
  /** Returns when it ended. Null while it stands. */
  readonly endedAt: (row: Row) => number | null;
  /** Compares the rows of the journal with the row of the table. Undefined if there is none. */
  readonly compare: (id: string, rows: readonly AuditedJournalRow[], found: Row | undefined) => void;
}

/** Compares each row of such a table of one book with its rows in the journal. */
export function begunAndEndedAudit<Row extends { readonly id: string; readonly seq: number }>(
  audit: Audit,
  book: AuditedBook,
  { table, ended, subjectOf, endedAt, compare }: BegunAndEndedRules<Row>,
): AuditPart {
  const derived = new Map<string, AuditedJournalRow[]>();
  const follow = (row: AuditedJournalRow): void => {
    const id = subjectOf(row);
    if (id === null) return;
    const rows = derived.get(id);
    if (rows === undefined) derived.set(id, [row]);
    else rows.push(row);
  };
  const end = (): Promise<void> =>
    compareTable<Row, readonly AuditedJournalRow[]>(audit, book, {
      table,
      derived,
      rows: slicesAlongSeq<Row>(audit, {
        sql: `SELECT * FROM ${audit.engine.table(table)} x WHERE x.book = ?`,
        bindings: [book.row.number],
        alias: "x",
      }),
      idOf: ({ id }) => id,
      asOf: (row, rows = []) => {
        const isEndKnown = endedAt(row) === null || rows.some(({ kind }) => kind === ended);
        return isEndKnown ? row.seq : Infinity;
      },
      follow,
      subjectOf,
      compare: (id, rows = [], row) => {
        compare(id, rows, row);
      },
    });
  return { table, row: follow, end };
}
