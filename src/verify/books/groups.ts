import type { RowStream } from "../../storage/sql/snapshot.js";
import type { Audit } from "../audit.js";
import type { AuditedTable, BookFindings, Place } from "../findings.js";
import { type AuditedBook, BookStream } from "./book-stream.js";

/** The place of a row in the order of its stream. Rows with equal keys form a group. */
export interface GroupKey {
  /** The number of the book. */
  readonly book: number;
  /** Undefined if the book itself is the group. */
  readonly id?: string;
}

/** Checks the rows of one group, in the order of `seq`. */
export interface GroupCheck<Row> {
  row(row: Row): void;
  /** Called once, after the last row. */
  end(): void;
}

/** Streams that are ordered by the number of the book, then by id. */
export interface Groups<Summary extends GroupKey, Part extends GroupKey, Row extends GroupKey> {
  /** The table of the summaries. */
  readonly table: AuditedTable;
  /** At most one row for each group. */
  readonly summaries: RowStream<Summary>;
  /** At most one more row for each group. */
  readonly parts?: RowStream<Part>;
  /** The rows of each group are ordered by `seq`. */
  readonly rows: RowStream<Row>;
  /** Called once for each group that any of the streams has, if its book exists. */
  readonly check: (group: Group<Summary, Part>) => GroupCheck<Row>;
}

export interface Group<Summary, Part> {
  readonly key: GroupKey;
  readonly book: AuditedBook;
  readonly summary: Summary | undefined;
  readonly part: Part | undefined;
}

/**
 * Reads the streams in parallel, and checks each group. Adds a finding on a group whose book does
 * not exist. Returns the number of summaries.
 */
export async function checkGroups<Summary extends GroupKey, Row extends GroupKey, Part extends GroupKey = never>(
  audit: Audit,
  { table, check, ...streams }: Groups<Summary, Part, Row>,
): Promise<number> {
  let count = 0;
  const books = new BookStream(audit);
  const [summaries, parts, rows] = await Promise.all([
    Cursor.on(streams.summaries),
    Cursor.on(streams.parts),
    Cursor.on(streams.rows),
  ]);
  for (;;) {
    const key = leastOf(summaries.row, leastOf(parts.row, rows.row));
    if (key === undefined) return count;
    const summary = await summaries.take(key);
    const part = await parts.take(key);
    const book = await books.at(key.book);
    const group = new Guarded(book?.findings ?? audit.findings.of(undefined), { seq: undefined, table, id: key.id });
    if (book === undefined) group.addNoBook(key.book);
    else group.begin(() => check({ key, book, summary, part }));
    while (rows.row !== undefined && compare(rows.row, key) === 0) {
      group.row(rows.row);
      await rows.advance();
    }
    group.end();
    if (summary !== undefined) count += 1;
  }
}

/**
 * Turns an exception of a check into a finding, and skips the rest of the group. Only a value that
 * the schema forbids, such as NULL in place of a text, makes a check throw.
 */
class Guarded<Row> {
  readonly #findings: BookFindings;
  readonly #place: Place;
  #check: GroupCheck<Row> | undefined;

  constructor(findings: BookFindings, place: Place) {
    this.#findings = findings;
    this.#place = place;
  }

  addNoBook(number: number): void {
    const expected = `the book with the number ${String(number)}`;
    this.#findings.add(this.#place, { expected, found: "no such book" });
  }

  begin(check: () => GroupCheck<Row>): void {
    this.#run(() => (this.#check = check()));
  }

  row(row: Row): void {
    this.#run(() => this.#check?.row(row));
  }

  end(): void {
    this.#run(() => this.#check?.end());
  }

  #run(step: () => unknown): void {
    try {
      step();
    } catch (error) {
      this.#check = undefined;
      this.#findings.add(this.#place, { expected: "values that the schema allows", found: String(error) });
    }
  }
}

/** The next row of a stream. */
class Cursor<Row extends GroupKey> {
  readonly #stream: RowStream<Row> | undefined;
  row: Row | undefined;

  private constructor(stream: RowStream<Row> | undefined) {
    this.#stream = stream;
  }

  static async on<Row extends GroupKey>(stream: RowStream<Row> | undefined): Promise<Cursor<Row>> {
    const cursor = new Cursor(stream);
    await cursor.advance();
    return cursor;
  }

  async advance(): Promise<void> {
    this.row = await this.#stream?.next();
  }

  /** Returns the next row and advances, if the row belongs to the group. */
  async take(key: GroupKey): Promise<Row | undefined> {
    const { row } = this;
    if (row === undefined || compare(row, key) !== 0) return undefined;
    await this.advance();
    return row;
  }
}

function leastOf(left: GroupKey | undefined, right: GroupKey | undefined): GroupKey | undefined {
  if (left === undefined || right === undefined) return left ?? right;
  return compare(left, right) < 0 ? left : right;
}

function compare(left: GroupKey, right: GroupKey): number {
  if (left.book !== right.book) return left.book - right.book;
  if (left.id === right.id) return 0;
  return (left.id ?? "") < (right.id ?? "") ? -1 : 1;
}
