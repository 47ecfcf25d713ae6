// The worker thread that owns the writing connection: a commit waits for the disk here, while the main thread goes on
// taking calls.
import { parentPort, workerData } from "node:worker_threads";

import type BetterSqlite3 from "better-sqlite3";

import { openSqliteForWriting } from "./sqlite-connection.js";
import { SqliteStatements } from "./sqlite-statements.js";

/** What to start the thread with: this very file, whatever its ending is. */
export const SQLITE_THREAD = new URL(import.meta.url);

export interface ThreadRequest {
  readonly id: number;
  readonly sql: string;
  readonly bindings: readonly unknown[];
  /** A JSON array of objects: the statement is run for each, with its @names filled from the object. */
  readonly rows: string | undefined;
}

/** What went wrong. A plain object: an error loses its fields on the way between threads. */
export interface ThreadFailure {
  readonly message: string;
  /** SQLITE_…, or empty. */
  readonly code: string;
}

/** The first message: whether the file could be opened. */
export type ThreadOpened = { readonly failure: ThreadFailure | undefined };

export type ThreadAnswer = { readonly id: number } & (
  { readonly rows: readonly unknown[] } | { readonly changes: number } | { readonly failure: ThreadFailure }
);

function serve(port: NonNullable<typeof parentPort>, connection: BetterSqlite3.Database): void {
  const statements = new SqliteStatements(connection);

  const answer = ({ id, sql, bindings, rows }: ThreadRequest): ThreadAnswer => {
    try {
      const statement = statements.prepare(sql);
      if (rows !== undefined) return { id, changes: runForEach(statement, rows) };
      if (statement.reader) return { id, rows: statement.all(...bindings) };
      return { id, changes: statement.run(...bindings).changes };
    } catch (error) {
      return { id, failure: failureOf(error) };
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
}

function runForEach(statement: BetterSqlite3.Statement, rows: string): number {
  let changes = 0;
  for (const row of JSON.parse(rows) as readonly object[]) changes += statement.run(row).changes;
  return changes;
}

function failureOf(error: unknown): ThreadFailure {
  if (!(error instanceof Error)) return { message: String(error), code: "" };
  return { message: error.message, code: "code" in error ? String(error.code) : "" };
}

function open(port: NonNullable<typeof parentPort>, filename: string): void {
  let connection: BetterSqlite3.Database;
  try {
    connection = openSqliteForWriting(filename);
  } catch (error) {
    port.postMessage({ failure: failureOf(error) } satisfies ThreadOpened);
    port.close();
    return;
  }
  serve(port, connection);
  port.postMessage({ failure: undefined } satisfies ThreadOpened);
}

if (parentPort !== null) open(parentPort, (workerData as { filename: string }).filename);
