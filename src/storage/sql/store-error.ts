import { StoreError } from "../../ledger/ports/store.js";
import type { Engine } from "./engine.js";

/** Waits for the database; rejects with a StoreError where it fails. */
export async function orStoreError<Result>(engine: Engine, work: PromiseLike<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    throw error instanceof StoreError ? error : engine.storeErrorOf(error);
  }
}
