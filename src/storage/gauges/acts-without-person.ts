import { DEMO, OPERATOR } from "../../domain/values/actor.js";
import type { Cell } from "../database.js";
import { isKeptHere } from "../moves/here.js";
import type { Binding, Engine } from "../sql/engine.js";
import type { BookRow } from "../sql/records/book-head-rows.js";
import { orStoreError } from "../sql/store-error.js";

/** How much one call reads at most. More would keep the lists of callers waiting. */
interface CountLimits {
  readonly statements: number;
  /** The rows of journals that one statement passes, with those of users that it skips. */
  readonly rows: number;
}

const LIMITS: CountLimits = { statements: 100, rows: 100_000 };

type CountedCell = Pick<Cell, "engine"> & { readonly reader: Pick<Cell["reader"], "rows"> };

/** The acts of the machine since the first operator. */
export interface CountedActs {
  readonly count: number;
  /** Undefined if there is none. */
  readonly newest: NewestAct | undefined;
}

interface NewestAct {
  /** Undefined for an act about operators. */
  readonly organizationId: string | undefined;
  readonly recordedAt: number;
}

/** How far a book was read, and what was found there. */
interface ReadBook {
  readonly seq: number;
  readonly count: number;
  readonly newestAt: number;
}

type CountedBookRow = Pick<BookRow, "number" | "organization_id" | "last_seq">;

interface FoundActsRow {
  readonly book: number;
  readonly count: number;
  readonly newest_at: number;
}

interface UnreadRows {
  readonly book: number;
  readonly after_seq: number;
  readonly up_to_seq: number;
}

/**
 * Counts the acts of the machine in the books of one cell, and in the first cell those about
 * operators. Their rows name no person. Rows about an account are not counted: `kesc verify` does.
 *
 * A call is cheap on a journal of any length. It reads one row of `books` for each book. Then it
 * goes along the index `journal_own_rows`, which has no row of a user, and only through the rows
 * that are newer than those of the call before. The first calls read all rows of that index.
 */
export class ActsWithoutPersonCount {
  readonly #cell: CountedCell;
  readonly #first: CountedCell;
  readonly #limits: CountLimits;
  #since: number | undefined;
  #books: ReadonlyMap<number, ReadBook> = new Map();

  /** `first` is the first cell of the database. It has the operators. */
  constructor(cell: CountedCell, first: CountedCell, limits = LIMITS) {
    this.#cell = cell;
    this.#first = first;
    this.#limits = limits;
  }

  /** Returns undefined while older rows are still to be read. Then the caller tries again. */
  async read(): Promise<CountedActs | undefined> {
    this.#since ??= await this.#createdAt();
    // Without operators nobody else can act.
    if (this.#since === undefined) return { count: 0, newest: undefined };
    const rows = await this.#rows<CountedBookRow>(booksSql(this.#cell.engine));
    const books = new Map(rows.map(({ number }) => [number, this.#books.get(number) ?? NOT_READ]));
    this.#books = books;
    for (let statements = 0; ; statements += 1) {
      const ranges = rangesOf(rows, books, this.#limits.rows);
      if (ranges.length === 0) break;
      if (statements === this.#limits.statements) return undefined;
      const found = await this.#rows<FoundActsRow>(actsSql(this.#cell.engine), [JSON.stringify(ranges), this.#since]);
      const byBook = new Map(found.map((row) => [row.book, row]));
      for (const { book, up_to_seq: seq } of ranges) {
        const { count, newestAt } = books.get(book) ?? NOT_READ;
        const { count: more = 0, newest_at: at = 0 } = byBook.get(book) ?? {};
        books.set(book, { seq, count: count + more, newestAt: Math.max(newestAt, at) });
      }
    }
    const inBooks = rows.map(({ number, organization_id: organizationId }) => {
      const { count, newestAt: recordedAt } = books.get(number) ?? NOT_READ;
      return { count, newest: { organizationId, recordedAt } };
    });
    return sumOf([...inBooks, ...(await this.#aboutOperators())]);
  }

  async #createdAt(): Promise<number | undefined> {
    const { engine, reader } = this.#first;
    const sql = `SELECT recorded_at FROM ${engine.table("operator_acts")} WHERE seq = 1`;
    const [row] = await orStoreError(engine, reader.rows<{ readonly recorded_at: number }>(sql));
    return row?.recorded_at;
  }

  async #aboutOperators(): Promise<readonly CountedActs[]> {
    if (this.#cell.engine.schema !== this.#first.engine.schema) return [];
    const sql = `
      SELECT COUNT(*) AS count, MAX(recorded_at) AS newest_at FROM ${this.#cell.engine.table("operator_acts")}
      WHERE seq > 1 AND actor IN (?, ?)`;
    const found = await this.#rows<{ readonly count: number; readonly newest_at: number | null }>(sql, [
      OPERATOR,
      DEMO,
    ]);
    return found.map(({ count, newest_at: at }) => ({
      count,
      newest: { organizationId: undefined, recordedAt: at ?? 0 },
    }));
  }

  #rows<Row>(sql: string, bindings: readonly Binding[] = []): Promise<readonly Row[]> {
    const { engine, reader } = this.#cell;
    return orStoreError(engine, reader.rows<Row>(sql, bindings));
  }
}

const NOT_READ: ReadBook = { seq: 0, count: 0, newestAt: 0 };

/** Returns the next rows to read: together at most `rowsMax`. */
function rangesOf(
  rows: readonly CountedBookRow[],
  books: ReadonlyMap<number, ReadBook>,
  rowsMax: number,
): readonly UnreadRows[] {
  const ranges: UnreadRows[] = [];
  let left = rowsMax;
  for (const { number: book, last_seq: last } of rows) {
    const { seq: after } = books.get(book) ?? NOT_READ;
    if (last <= after) continue;
    const upTo = Math.min(last, after + left);
    ranges.push({ book, after_seq: after, up_to_seq: upTo });
    left -= upTo - after;
    if (left === 0) break;
  }
  return ranges;
}

export function sumOf(parts: readonly CountedActs[]): CountedActs {
  let sum: CountedActs = { count: 0, newest: undefined };
  for (const { count, newest } of parts) {
    if (count === 0) continue;
    const isNewer = newest !== undefined && newest.recordedAt > (sum.newest?.recordedAt ?? 0);
    sum = { count: sum.count + count, newest: isNewer ? newest : sum.newest };
  }
  return sum;
}

function booksSql({ table }: Engine): string {
  return `SELECT b.number, b.organization_id, b.last_seq FROM ${table("books")} b WHERE ${isKeptHere({ table })}`;
}

/** SQLite reads a CROSS JOIN from left to right. Otherwise it might begin with the whole index. */
export function actsSql({ table, input, indexedBy }: Engine): string {
  return `
    SELECT j.book, COUNT(*) AS count, MAX(j.recorded_at) AS newest_at
    FROM ${input({ book: "int64", after_seq: "int64", up_to_seq: "int64" })}
    CROSS JOIN ${table("journal")} j${indexedBy("journal_own_rows")}
    WHERE j.book = input.book AND j.seq > input.after_seq AND j.seq <= input.up_to_seq
      AND j.account_id IS NULL AND j.actor = '${OPERATOR}' AND j.recorded_at >= ?
    GROUP BY j.book`;
}
