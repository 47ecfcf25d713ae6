import type { Knex } from "knex";

const ONLY_SCHEMA = "public";

/**
 * Returns the schemas of the cells, in the order of their numbers: kesc_0, kesc_1 …, or only
 * `public` if there is no such schema. Throws if a number is missing.
 */
export async function cellSchemas(pool: Knex): Promise<readonly [string, ...string[]]> {
  const { rows } = await pool.raw<{ readonly rows: readonly { readonly number: number }[] }>(
    String.raw`SELECT CAST(substr(nspname, 6) AS BIGINT) AS number FROM pg_catalog.pg_namespace
      WHERE nspname ~ '^kesc_[0-9]{1,3}$' ORDER BY 1`,
  );
  const gap = rows.findIndex(({ number }, index) => number !== index);
  if (gap !== -1) throw new Error(`the schema ${schemaOf(gap)} is missing, but a later one exists`);
  const [first, ...others] = rows.map(({ number }) => schemaOf(number));
  return first === undefined ? [ONLY_SCHEMA] : [first, ...others];
}

/** The database already has tables in the schema `public`, so it stays one cell. */
export class OneCellError extends Error {}

/**
 * Creates the schemas of `count` cells. One cell stays in `public` if there are no other schemas.
 *
 * Throws a OneCellError if `public` already has the tables of the only cell.
 */
export async function createCellSchemas(pool: Knex, count: number): Promise<void> {
  const [first] = await cellSchemas(pool);
  if (count === 1 && first === ONLY_SCHEMA) return;
  if (await pool.schema.withSchema(ONLY_SCHEMA).hasTable("books")) {
    throw new OneCellError("its one cell is the schema public");
  }
  for (let number = 0; number < count; number += 1) {
    await pool.raw(`CREATE SCHEMA IF NOT EXISTS ${schemaOf(number)}`);
  }
}

function schemaOf(number: number): string {
  return `kesc_${String(number)}`;
}
