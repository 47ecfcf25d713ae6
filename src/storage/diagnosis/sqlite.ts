import { existsSync } from "node:fs";

import type { DatabaseAddress } from "../database.js";
import { masterKeysIn } from "../secrets/master-key.js";
import { BookDirectory } from "../sql/book-directory.js";
import { sqliteEngine } from "../sqlite/engine.js";
import { MissingFileError, refuseForeignFile } from "../sqlite/file.js";
import { SqliteReader } from "../sqlite/reader.js";
import type { Diagnosed } from "./diagnosed.js";

/** Reads the mode of the file only: a server sets `synchronous` on each of its connections. */
export async function diagnoseSqlite<Result>(
  { filename, masterKeyFile }: DatabaseAddress & { readonly engine: "sqlite" },
  work: (diagnosed: Diagnosed) => Promise<Result>,
): Promise<Result> {
  if (!existsSync(filename)) throw new MissingFileError("it does not exist");
  refuseForeignFile(filename);
  const reader = new SqliteReader(filename);
  try {
    const masterKeys = masterKeysIn(masterKeyFile);
    const [mode] = await reader.rows<{ readonly journal_mode: string }>("PRAGMA journal_mode");
    const value = mode?.journal_mode ?? "unknown";
    return await work({
      cells: [
        {
          number: 0,
          engine: sqliteEngine,
          reader,
          directory: new BookDirectory(sqliteEngine, masterKeys),
          masterKeys,
        },
      ],
      durability: [{ name: "journal_mode", value, isSafe: value === "wal" }],
      clockAheadMillis: undefined,
      role: undefined,
      archive: undefined,
    });
  } finally {
    await reader.close();
  }
}
