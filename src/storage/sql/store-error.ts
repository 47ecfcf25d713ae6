import { StoreError } from "../../ledger/ports/store.js";
import { WrongMasterKeyError } from "../secrets/book-keys.js";
import { MasterKeyError } from "../secrets/master-key.js";
import { UnreadableRowError } from "../secrets/unreadable-row.js";
import type { Binding, Engine, Read, Session, Transact } from "./engine.js";
import type { Reader } from "./reader.js";

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

interface TransactingCell {
  readonly engine: Engine;
  readonly transact: Transact;
}

/** Runs `work` in one transaction. Rejects with a StoreError if the database fails. */
export function inTransaction<Result>(
  { engine, transact }: TransactingCell,
  work: (session: Session) => Promise<Result>,
): Promise<Result> {
  return orStoreError(engine, transact(work));
}

export interface ReadingCell {
  readonly engine: Engine;
  readonly reader: Pick<Reader, "rows">;
}

/** Reads what is committed, or what the transaction of `session` sees. Rejects alike. */
export function readRows<Row>(
  { engine, reader }: ReadingCell,
  sql: string,
  bindings: readonly Binding[] = [],
  session?: Session,
): Promise<readonly Row[]> {
  return orStoreError(engine, session?.read<Row>({ sql, bindings }) ?? reader.rows<Row>(sql, bindings));
}

/** Runs one statement in a transaction of its own, and resolves with its rows. Rejects alike. */
export function runAlone<Row>(cell: TransactingCell, statement: Read): Promise<readonly Row[]> {
  return inTransaction(cell, (session) => session.read<Row>(statement));
}

/** Of rows that cannot be read, or say what cannot be. The next try would find the same. */
const OF_ROWS = [UnreadableRowError, WrongMasterKeyError, MasterKeyError, RangeError] as const;

export function storeErrorOf(engine: Engine, error: unknown): StoreError {
  if (error instanceof StoreError) return error;
  return OF_ROWS.some((kind) => error instanceof kind) ? new StoreError("rejected", error) : engine.storeErrorOf(error);
}
