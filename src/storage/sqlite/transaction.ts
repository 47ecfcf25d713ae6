import type BetterSqlite3 from "better-sqlite3";

import type { Read, Transact, Write } from "../sql/engine.js";
import type { SqliteStatements } from "./statements.js";

/**
 * Transactions on this connection, one at a time. Whatever stands in `work` runs on the
 * connection's own thread.
 */
export function sqliteTransaction(connection: BetterSqlite3.Database, statements: SqliteStatements): Transact {
  // Takes the write lock at once: a transaction that only asks for it later may find that what it
  // has read is stale.
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
        read: (one) => settled(() => select(one)),
        write: (writes) =>
          settled(() => {
            write(writes);
          }),
      });
      commit();
      return result;
    } catch (error) {
      // SQLite itself rolls back after some failures, a full disk among them.
      if (connection.inTransaction) statements.prepare("ROLLBACK").run();
      throw error;
    }
  };
}

/** What is done at once, as a promise: what it throws becomes a rejection. */
function settled<Result>(work: () => Result): Promise<Result> {
  return new Promise((resolve) => {
    resolve(work());
  });
}
