import type { Database } from "./database.js";
import { createMasterKeyFile, MasterKeyError } from "./secrets/master-key.js";

/**
 * Returns the ids of the master keys that the database needs and the master key file lacks. Throws
 * a MasterKeyError if the file is missing or malformed.
 */
export async function missingMasterKeys({ cells }: Pick<Database, "cells">): Promise<readonly string[]> {
  const [{ masterKeys }] = cells;
  const present = new Set(masterKeys().map(({ id }) => id));
  const needed = await neededMasterKeys({ cells });
  return needed.filter((id) => !present.has(id));
}

/**
 * Creates the master key file if it is missing and no book needs a key. Returns whether it created
 * the file.
 */
export async function ensureMasterKeyFile({ cells }: Pick<Database, "cells">, filename: string): Promise<boolean> {
  try {
    cells[0].masterKeys();
    return false;
  } catch (error) {
    const isMissing = error instanceof MasterKeyError && error.isMissing;
    if (!isMissing || (await neededMasterKeys({ cells })).length > 0) throw error;
    createMasterKeyFile(filename);
    return true;
  }
}

async function neededMasterKeys({ cells }: Pick<Database, "cells">): Promise<readonly string[]> {
  const rows = await Promise.all(
    cells.map(({ reader, engine }) =>
      reader.rows<{ readonly id: string }>(`SELECT DISTINCT master_key_id AS id FROM ${engine.table("book_keys")}`),
    ),
  );
  return [...new Set(rows.flat().map(({ id }) => id))];
}
