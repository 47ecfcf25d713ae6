import type { Page, PageRequest } from "../../ledger/ports/reads.js";
import type { Binding, Engine, Read } from "../sql/engine.js";
import type { Reader } from "../sql/reader.js";

/** Runs the SELECTs of lists. */
export type ListReader = Pick<Reader, "rows">;

/** A condition, and the values of its `?`. */
export type Condition = readonly [sql: string, ...bindings: readonly Binding[]];

/** A list of rows of one book, in the order of an index. */
export interface ListQuery {
  readonly book: number;
  /** The columns of the rows that a page looks at. */
  readonly columns: string;
  /** What the page shows of these rows, which it calls `looked_at`. All columns when omitted. */
  readonly shown?: string;
  readonly from: string;
  /** The column `seq` of the index. */
  readonly seq: string;
  /** The conditions that the index serves. Every row that it leads to meets them. */
  readonly along: readonly Condition[];
  /** If there are any, each row meets exactly one of these, and the index serves each. */
  readonly oneOf?: readonly Condition[];
  /** The conditions that the index does not serve. Rows that do not meet them are passed over. */
  readonly matching?: readonly Condition[] | undefined;
}

/**
 * The maximum number of rows that one page looks at. Without it, a filter that few rows pass would
 * read the whole book.
 */
export const LOOKED_AT_MAX = 500;

/**
 * The bytes of the rows of one page. Clients of gRPC take messages of 4 MiB unless told otherwise.
 * The message of a row is as large as the row, give or take some hundred bytes.
 */
const PAGE_BYTES_MAX = 3 * 1_024 * 1_024;
/** A number, a time or a word in a message, with the bytes around it. */
const VALUE_BYTES = 24;

/** Returns the first rows that fit into one message together. At least one. */
export function fitting<Row extends object>(rows: readonly Row[]): readonly Row[] {
  let bytes = 0;
  for (const [index, row] of rows.entries()) {
    for (const value of Object.values(row) as unknown[]) {
      if (typeof value === "string") bytes += Buffer.byteLength(value);
      else if (value instanceof Uint8Array) bytes += value.length;
      bytes += VALUE_BYTES;
    }
    if (bytes > PAGE_BYTES_MAX && index > 0) return rows.slice(0, index);
  }
  return rows;
}

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
  const { matching = [], columns } = query;
  // One row more than the page holds shows whether there is a next page.
  const limit = page.size + 1;
  const shown = (newest: Read): string => `SELECT ${query.shown ?? "*"} FROM (${newest.sql}) AS looked_at`;
  if (matching.length === 0) {
    const newest = newestOf(engine, query, { columns, beforeSeq: page.beforeSeq ?? Number.MAX_SAFE_INTEGER, limit });
    return pageOf(await reader.rows<Row>(shown(newest), newest.bindings), page);
  }
  const start = { beforeSeq: await startOf(reader, engine, { book: query.book, page }), limit: LOOKED_AT_MAX };
  // Both engines filter the rows in the order of the index, and stop when the page is full.
  const newest = newestOf(engine, query, { columns, ...start });
  const found = await reader.rows<Row>(`${shown(newest)} WHERE ${allOf(matching)} LIMIT ?`, [
    ...newest.bindings,
    ...bindingsOf(matching),
    limit,
  ]);
  if (found.length === limit) return { ...pageOf(found, page), lookedAt: LOOKED_AT_MAX };
  const seqs = newestOf(engine, query, { columns: `${query.seq} AS seq`, ...start });
  const sql = `SELECT count(*) AS count, min(seq) AS seq FROM (${seqs.sql}) AS looked_at`;
  const [last] = await reader.rows<{ readonly count: number; readonly seq: number }>(sql, seqs.bindings);
  const rest = last?.count === LOOKED_AT_MAX ? last.seq : undefined;
  return { ...pageOf(found, page, rest), lookedAt: LOOKED_AT_MAX };
}

interface Newest {
  readonly columns: string;
  /** An exclusive upper bound. */
  readonly beforeSeq: number;
  readonly limit: number;
}

/** Returns a SELECT of the newest rows, newest first. */
function newestOf(
  { unionPart }: Engine,
  { from, along, oneOf = [], seq }: ListQuery,
  { columns, beforeSeq, limit }: Newest,
): Read {
  const selectOf = (conditions: readonly Condition[]): Read => ({
    sql: `SELECT ${columns} FROM ${from} WHERE ${allOf(conditions)} AND ${seq} < ?`,
    bindings: [...bindingsOf(conditions), beforeSeq],
  });
  if (oneOf.length <= 1) {
    const { sql, bindings } = selectOf([...along, ...oneOf]);
    return { sql: `${sql} ORDER BY ${seq} DESC LIMIT ?`, bindings: [...bindings, limit] };
  }
  // The database merges the parts in their order, and reads only rows that the page needs. With
  // an IN in place of the parts it would sort all rows.
  const parts = oneOf.map((condition) => selectOf([...along, condition]));
  const union = parts.map(({ sql }) => unionPart(sql, { order: `${seq} DESC`, limit })).join(" UNION ALL ");
  return {
    sql: `${union} ORDER BY seq DESC LIMIT ?`,
    bindings: [...parts.flatMap(({ bindings }) => bindings), limit],
  };
}

/**
 * Makes a page of the rows that were found: those that it holds, and one more if there are more.
 * After all of them, the list goes on at `restBeforeSeq`.
 */
export function pageOf<Row extends SeqRow>(
  found: readonly Row[],
  { size }: Pick<PageRequest, "size">,
  restBeforeSeq?: number,
): Page<Row> {
  const rows = fitting(found.slice(0, size));
  const nextBeforeSeq = found.length > rows.length ? rows.at(-1)?.seq : restBeforeSeq;
  return { rows, nextBeforeSeq, lookedAt: found.length };
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

/** Returns the condition of a filter by status that no index serves. */
export function statusIn(statuses: readonly string[] | undefined): Condition[] {
  return columnIn("status", statuses);
}

/** Returns the condition that the column has one of the values. Without values there is none. */
export function columnIn(column: string, values: readonly string[] | undefined): Condition[] {
  return values === undefined ? [] : [[`${column} IN (${values.map(() => "?").join(", ")})`, ...values]];
}

export function allOf(conditions: readonly Condition[]): string {
  return conditions.map(([sql]) => sql).join(" AND ");
}

export function bindingsOf(conditions: readonly Condition[]): Binding[] {
  return conditions.flatMap(([, ...bindings]) => bindings);
}
