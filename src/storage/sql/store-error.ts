import { StoreError } from "../../ledger/ports/store.js";
import type { Engine } from "./engine.js";

/** Awaits `work`. Rejects with a StoreError if the database fails. */
export async function orStoreError<Result>(engine: Engine, work: PromiseLike<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    throw storeErrorOf(engine, error);
  }
}

export function storeErrorOf(engine: Engine, error: unknown): StoreError {
  return error instanceof StoreError ? error : engine.storeErrorOf(error);
}
