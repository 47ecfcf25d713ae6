import type BetterSqlite3 from "better-sqlite3";

import type { Read, Transact, Write } from "../sql/engine.js";
import type { SqliteStatements } from "./statements.js";

/**
 * Runs transactions on this connection, one at a time. `work` runs on the thread of the connection.
 */
export function sqliteTransaction(connection: BetterSqlite3.Database, statements: SqliteStatements): Transact {
  // Takes the write lock at once. A transaction that takes it later fails if another process wrote
  // after its first read.
  const begin = (): unknown => statements.prepare("BEGIN IMMEDIATE").run();
  const commit = (): unknown => statements.prepare("COMMIT").run();
  const select = ({ sql, bindings }: Read): unknown[] => statements.prepare(sql).all(...bindings);
  const write = (writes: readonly Write[]): void => {
    for (const { sql, rows } of writes) {
      const statement = statements.prepare(sql);
      for (const row of rows) statement.run(row);
    }
  };

  return async (work) => {
    begin();
    try {
      const result = await work({
        read: <Row>(one: Read) => settled(() => select(one) as readonly Row[]),
        write: (writes) =>
          settled(() => {
            write(writes);
          }),
      });
      commit();
      return result;
    } catch (error) {
      // SQLite has already rolled back after some errors, such as a full disk.
      if (connection.inTransaction) statements.prepare("ROLLBACK").run();
      throw error;
    }
  };
}

/** Runs the synchronous work and returns a promise. An exception becomes a rejection. */
function settled<Result>(work: () => Result): Promise<Result> {
  return new Promise((resolve) => {
    resolve(work());
  });
}
