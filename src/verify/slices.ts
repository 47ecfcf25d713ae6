import type { Binding } from "../storage/sql/engine.js";
import type { Audit } from "./audit.js";

const SLICE_ROWS = 5_000;

interface Selection<Row> {
  /** A SELECT without ORDER BY. It ends with its WHERE clause. */
  readonly sql: string;
  /** The clause after it. The rows are groups with one key each. */
  readonly groupBy?: string;
  readonly bindings: readonly Binding[];
  /** The last column of the index that the rows are read along. Its values differ. */
  readonly key: string;
  readonly keyOf: (row: Row) => Binding;
}

/**
 * Reads rows in the order of a key, 5,000 at a time. Each slice is a statement of its own that
 * continues after the last key along an index, so the database neither sorts nor keeps a snapshot.
 */
export async function* slices<Row>(
  { rows }: Audit,
  { sql, groupBy = "", bindings, key, keyOf }: Selection<Row>,
): AsyncGenerator<readonly Row[], void, void> {
  let after: readonly Binding[] = [];
  for (;;) {
    const condition = after.length === 0 ? "" : `AND ${key} > ?`;
    const slice = await rows<Row>(`${sql} ${condition} ${groupBy} ORDER BY ${key} LIMIT ${String(SLICE_ROWS)}`, [
      ...bindings,
      ...after,
    ]);
    const last = slice.at(-1);
    if (last === undefined) return;
    yield slice;
    if (slice.length < SLICE_ROWS) return;
    after = [keyOf(last)];
  }
}

/** Reads slices along the column `seq` of the table that the SELECT calls `alias`. */
export function slicesAlongSeq<Row extends { readonly seq: number }>(
  audit: Audit,
  { alias, ...selection }: Pick<Selection<Row>, "sql" | "bindings"> & { readonly alias: string },
): AsyncGenerator<readonly Row[], void, void> {
  return slices<Row>(audit, { ...selection, key: `${alias}.seq`, keyOf: ({ seq }) => seq });
}

/** Reads the rows with these ids, 5,000 at a time. The SELECT ends with the column of the id. */
export async function* rowsWithIds<Row>(
  { engine, rows }: Pick<Audit, "engine" | "rows">,
  { sql, bindings }: Pick<Selection<Row>, "sql" | "bindings">,
  ids: readonly string[],
): AsyncGenerator<Row, void, void> {
  for (let from = 0; from < ids.length; from += SLICE_ROWS) {
    const some = JSON.stringify(ids.slice(from, from + SLICE_ROWS));
    yield* await rows<Row>(`${sql} IN (SELECT value FROM ${engine.jsonItems("?")})`, [...bindings, some]);
  }
}
