import type pg from "pg";

const ONLY_SCHEMA = "public";

/** Runs a statement. Both Knex and a client of `pg` have such a method. */
type RunQuery = (sql: string) => PromiseLike<Pick<pg.QueryResult, "rows">>;

/**
 * Returns the schemas of the cells, in the order of their numbers: kesc_0, kesc_1 …, or only
 * `public` if there is no such schema. Throws if a number is missing.
 */
export async function cellSchemas(query: RunQuery): Promise<readonly [string, ...string[]]> {
  const { rows } = await query(
    String.raw`SELECT CAST(substr(nspname, 6) AS BIGINT) AS number FROM pg_catalog.pg_namespace
      WHERE nspname ~ '^kesc_(0|[1-9][0-9]{0,2})$' ORDER BY 1`,
  );
  const numbers = (rows as readonly { readonly number: number | string }[]).map(({ number }) => Number(number));
  const gap = numbers.findIndex((number, index) => number !== index);
  if (gap !== -1) throw new Error(`the schema ${schemaOf(gap)} is missing, but a later one exists`);
  const [first, ...others] = numbers.map(schemaOf);
  return first === undefined ? [ONLY_SCHEMA] : [first, ...others];
}

/** The database already has tables in the schema `public`, so it stays one cell. */
export class OneCellError extends Error {}

/** The database has more cells than that. A cell with books cannot be removed. */
export class TooManyCellsError extends Error {
  constructor(readonly cells: number) {
    super(`it has ${String(cells)} cells`);
  }
}

/**
 * Creates the schemas of `count` cells, all in one transaction. Returns how many it created. One
 * cell stays in `public` if there are no other schemas. The caller holds the migration lock.
 *
 * Throws a OneCellError or a TooManyCellsError.
 */
export async function createCellSchemas(query: RunQuery, count: number): Promise<number> {
  const schemas = await cellSchemas(query);
  const isOneCell = schemas[0] === ONLY_SCHEMA;
  if (count === 1 && isOneCell) return 0;
  if (isOneCell && (await hasTables(query))) throw new OneCellError("its only cell is the schema public");
  const existing = isOneCell ? 0 : schemas.length;
  if (count < existing) throw new TooManyCellsError(existing);
  const created = Array.from({ length: count - existing }, (_, index) => schemaOf(existing + index));
  // One message with several statements is one transaction.
  if (created.length > 0) await query(created.map((schema) => `CREATE SCHEMA ${schema}`).join("; "));
  return created.length;
}

/** Whether `public` has our tables. Other programs may have tables there, too. */
async function hasTables(query: RunQuery): Promise<boolean> {
  const { rows } = await query(`
    SELECT 1 FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = '${ONLY_SCHEMA}' AND c.relname = 'book_keys'`);
  return rows.length > 0;
}

function schemaOf(number: number): string {
  return `kesc_${String(number)}`;
}
