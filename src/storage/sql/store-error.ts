import type { Knex } from "knex";

import { StoreError } from "../../ledger/ports/store.js";
import type { Engine } from "./engine.js";

/** Runs a statement that answers rows, on PostgreSQL. */
export async function query<Row>(
  knex: Knex,
  sql: string,
  bindings: readonly (string | number | null)[] = [],
): Promise<readonly Row[]> {
  const { rows } = await knex.raw<{ readonly rows: readonly Row[] }>(sql, [...bindings]);
  return rows;
}

/** Runs a statement that answers nothing. */
export async function run(knex: Knex, sql: string, bindings: readonly (string | number | null)[] = []): Promise<void> {
  await knex.raw(sql, [...bindings]);
}

/** Waits for the database; rejects with a StoreError where it fails. */
export async function orStoreError<Result>(engine: Engine, work: PromiseLike<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    throw error instanceof StoreError ? error : engine.storeErrorOf(error);
  }
}
