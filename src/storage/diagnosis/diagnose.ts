import type { DatabaseAddress } from "../database.js";
import type { Diagnosed } from "./diagnosed.js";
import { diagnosePostgres } from "./postgres.js";
import { diagnoseSqlite } from "./sqlite.js";

/**
 * Opens the database for reading, whatever its settings and its schema are, and calls `work`. Never
 * changes the database.
 *
 * Rejects as `openDatabase` does if the database cannot be reached or is not ours.
 */
export function diagnose<Result>(
  address: DatabaseAddress,
  work: (diagnosed: Diagnosed) => Promise<Result>,
): Promise<Result> {
  return address.engine === "sqlite" ? diagnoseSqlite(address, work) : diagnosePostgres(address, work);
}
