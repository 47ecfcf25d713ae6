import type { Knex } from "knex";

import { StoreError } from "../ledger/store.js";
import type { Engine } from "./engine.js";

/** Runs a statement that answers rows. SQLite's driver answers them bare, PostgreSQL's in `rows`. */
export async function query<Row>(
  knex: Knex,
  sql: string,
  bindings: readonly (string | number | null)[] = [],
): Promise<readonly Row[]> {
  const answer: readonly Row[] | { readonly rows: readonly Row[] } = await knex.raw(sql, [...bindings]);
  return "rows" in answer ? answer.rows : answer;
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
