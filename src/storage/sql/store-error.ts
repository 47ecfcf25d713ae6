import { StoreError } from "../../ledger/ports/store.js";
import type { Engine } from "./engine.js";

/**
 * A rule of ours refuses what a transaction would do, and undoes it. The database did not fail:
 * `orStoreError` passes the error on.
 */
export abstract class RefusedWriteError extends Error {}

/** Awaits `work`. Rejects with a StoreError if the database fails. */
export async function orStoreError<Result>(engine: Engine, work: PromiseLike<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    throw error instanceof RefusedWriteError ? error : storeErrorOf(engine, error);
  }
}

export function storeErrorOf(engine: Engine, error: unknown): StoreError {
  return error instanceof StoreError ? error : engine.storeErrorOf(error);
}
