// The worker thread that owns the writing connection: a commit waits for the disk here, while the main thread goes on
// taking calls.
import { parentPort, workerData } from "node:worker_threads";

import type BetterSqlite3 from "better-sqlite3";

import { openSqliteForWriting } from "./sqlite-connection.js";

/** What to start the thread with: this very file, whatever its ending is. */
export const SQLITE_THREAD = new URL(import.meta.url);

export interface ThreadRequest {
  readonly id: number;
  readonly sql: string;
  readonly bindings: readonly unknown[];
}

export type ThreadAnswer = { readonly id: number } & (
  | { readonly rows: readonly unknown[] }
  | { readonly changes: number }
  | { readonly failure: { readonly message: string; readonly code: string } }
);

// The statements of the ledger are few and always the same; those of the migrations run once.
const STATEMENTS_MAX = 200;

function serve(port: NonNullable<typeof parentPort>, filename: string): void {
  const connection = openSqliteForWriting(filename);
  const statements = new Map<string, BetterSqlite3.Statement>();

  const prepare = (sql: string): BetterSqlite3.Statement => {
    let statement = statements.get(sql);
    if (statement === undefined) {
      statement = connection.prepare(sql);
      if (statements.size < STATEMENTS_MAX) statements.set(sql, statement);
    }
    return statement;
  };

  const answer = ({ id, sql, bindings }: ThreadRequest): ThreadAnswer => {
    try {
      const statement = prepare(sql);
      if (statement.reader) return { id, rows: statement.all(...bindings) };
      return { id, changes: statement.run(...bindings).changes };
    } catch (error) {
      const code = error instanceof Error && "code" in error ? String(error.code) : "";
      return { id, failure: { message: error instanceof Error ? error.message : String(error), code } };
    }
  };

  port.on("message", (request: ThreadRequest | "close") => {
    if (request !== "close") {
      port.postMessage(answer(request));
      return;
    }
    connection.close();
    port.close();
  });
  port.postMessage("open");
}

if (parentPort !== null) serve(parentPort, (workerData as { filename: string }).filename);
