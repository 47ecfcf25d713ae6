import type { Page, PageRequest } from "../../ledger/ports/reads.js";
import type { Binding, Engine } from "../sql/engine.js";
import type { Reader } from "../sql/reader.js";

/** Runs the SELECTs of lists. */
export type ListReader = Pick<Reader, "rows">;

/** A condition, and the values of its `?`. */
export type Condition = readonly [sql: string, ...bindings: readonly Binding[]];

/** A list of rows of one book, in the order of an index. */
export interface ListQuery {
  readonly book: number;
  readonly columns: string;
  readonly from: string;
  /** The column `seq` of the index. */
  readonly seq: string;
  /** The conditions that the index serves. Every row that it leads to meets them. */
  readonly along: readonly Condition[];
  /** The conditions that the index does not serve. Rows that do not meet them are passed over. */
  readonly matching: readonly Condition[];
}

/**
 * The maximum number of rows that one page looks at. Without it, a filter that few rows pass would
 * read the whole book.
 */
export const LOOKED_AT_MAX = 500;

interface SeqRow {
  readonly seq: number;
}

/**
 * Reads one page, newest first. It looks at a bounded number of rows: if too few of them match, the
 * page is short, and the next one goes on from there.
 */
export async function readPage<Row extends SeqRow>(
  reader: ListReader,
  engine: Engine,
  { query, page }: { readonly query: ListQuery; readonly page: PageRequest },
): Promise<Page<Row>> {
  const { matching } = query;
  const along = bindingsOf(query.along);
  // One row more than the page holds shows whether there is a next page.
  const limit = page.size + 1;
  if (matching.length === 0) {
    const bindings = [...along, page.beforeSeq ?? Number.MAX_SAFE_INTEGER, limit];
    return pageOf(await reader.rows<Row>(newestOf(query, query.columns), bindings), page);
  }
  const start = [...along, await startOf(reader, engine, { book: query.book, page })];
  // Both engines filter the rows in the order of the index, and stop when the page is full.
  const found = await reader.rows<Row>(
    `SELECT * FROM (${newestOf(query, query.columns)}) AS looked_at WHERE ${allOf(matching)} LIMIT ?`,
    [...start, LOOKED_AT_MAX, ...bindingsOf(matching), limit],
  );
  if (found.length === limit) return { ...pageOf(found, page), lookedAt: LOOKED_AT_MAX };
  const sql = `${newestOf(query, `${query.seq} AS seq`)} OFFSET ?`;
  const [lastLookedAt] = await reader.rows<SeqRow>(sql, [...start, 1, LOOKED_AT_MAX - 1]);
  return { rows: found, nextBeforeSeq: lastLookedAt?.seq, lookedAt: LOOKED_AT_MAX };
}

/** Returns a SELECT. Its last two bindings are an exclusive upper bound of `seq`, and the limit. */
function newestOf({ from, along, seq }: ListQuery, columns: string): string {
  return `SELECT ${columns} FROM ${from} WHERE ${allOf(along)} AND ${seq} < ? ORDER BY ${seq} DESC LIMIT ?`;
}

/** Makes a page of the rows that were found: those of the page, and one more if there are more. */
export function pageOf<Row extends SeqRow>(found: readonly Row[], { size }: PageRequest): Page<Row> {
  const rows = found.slice(0, size);
  return { rows, nextBeforeSeq: found.length > size ? rows.at(-1)?.seq : undefined, lookedAt: found.length };
}

/**
 * Returns the exclusive upper bound of the page's `seq`. The first page begins at the end of the
 * book as it is now, so rows that are added meanwhile do not shift the page's end.
 */
async function startOf(
  reader: ListReader,
  { table }: Engine,
  { book, page }: { readonly book: number; readonly page: PageRequest },
): Promise<number> {
  if (page.beforeSeq !== undefined) return page.beforeSeq;
  const sql = `SELECT last_seq AS seq FROM ${table("books")} WHERE number = ?`;
  const [head] = await reader.rows<SeqRow>(sql, [book]);
  return (head?.seq ?? 0) + 1;
}

/** Leaves out the conditions without a value. Each has one `?`. */
export function given(conditions: readonly (readonly [sql: string, binding: Binding | undefined])[]): Condition[] {
  return conditions.filter((condition): condition is readonly [string, Binding] => condition[1] !== undefined);
}

function allOf(conditions: readonly Condition[]): string {
  return conditions.map(([sql]) => sql).join(" AND ");
}

export function bindingsOf(conditions: readonly Condition[]): Binding[] {
  return conditions.flatMap(([, ...bindings]) => bindings);
}
