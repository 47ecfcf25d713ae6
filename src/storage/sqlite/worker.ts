// A thread with a connection of its own. One such thread owns the writing connection: it decides
// and commits the ledger's batches, while the main thread receives calls (docs/adr/0004). Another
// one runs the queries of lists.
import { parentPort, workerData } from "node:worker_threads";

import type BetterSqlite3 from "better-sqlite3";

import { collectWhenQuiet } from "../../../runtime/heap.js";
import type { Command } from "../../domain/operations.js";
import type { UnixMillis } from "../../domain/values/time.js";
import { commitBatch } from "../../ledger/commit-batch.js";
import type { CommandResult } from "../../ledger/ports/committer.js";
import { StoreError } from "../../ledger/ports/store.js";
import type { Leaves } from "../../seals/ports.js";
import { LeafHashes, type LeafRange } from "../leaves/leaf-rows.js";
import { masterKeysIn } from "../secrets/master-key.js";
import { BookDirectory } from "../sql/book-directory.js";
import type { Read } from "../sql/engine.js";
import { ledgerStore } from "../sql/ledger-store.js";
import { openSqliteForReading, openSqliteForWriting } from "./connection.js";
import { sqliteEngine } from "./engine.js";
import { SqliteStatements, sqliteTransaction } from "./statements.js";

/** One statement, one batch of the ledger, or the leaves of some rows. */
export type WorkerRequest =
  | { readonly id: number; readonly sql: string; readonly bindings: readonly unknown[] }
  | { readonly id: number; readonly commands: readonly Command[]; readonly now: UnixMillis }
  | { readonly id: number; readonly leaves: LeafRange };

export type WorkerResponse = { readonly id: number } & (
  | { readonly rows: readonly unknown[] }
  | { readonly changes: number }
  | { readonly results: readonly CommandResult[] }
  | { readonly leaves: Leaves }
  | { readonly failure: WorkerFailure }
);

/** The first message of the worker. It says whether the file could be opened. */
export interface WorkerOpened {
  readonly failure: WorkerFailure | undefined;
}

/** An error as a plain object. An Error object loses its class and its fields between threads. */
export interface WorkerFailure {
  readonly message: string;
  readonly stack: string | undefined;
  /** SQLITE_…, or empty. */
  readonly code: string;
  /** The kind of a StoreError. The other fields then describe its cause. */
  readonly kind: StoreError["kind"] | undefined;
}

/** The files that the worker opens. */
export interface WorkerFiles {
  readonly filename: string;
  readonly masterKeyFile: string;
  /** Whether the worker only reads. */
  readonly isReadOnly: boolean;
}

function serve(
  port: NonNullable<typeof parentPort>,
  { connection, masterKeyFile }: { connection: BetterSqlite3.Database; masterKeyFile: string },
): void {
  const statements = new SqliteStatements(connection);
  const directory = new BookDirectory(sqliteEngine, masterKeysIn(masterKeyFile));
  const store = ledgerStore(sqliteEngine, sqliteTransaction(connection, statements), directory);

  const hashes = new LeafHashes(sqliteEngine, directory);
  const read = ({ sql, bindings }: Read): Promise<readonly unknown[]> =>
    Promise.resolve(statements.prepare(sql).all(...bindings));

  const responseTo = async (request: WorkerRequest): Promise<WorkerResponse> => {
    const { id } = request;
    try {
      if ("commands" in request) {
        const results = await commitBatch(store, request.commands, request.now);
        return { id, results: results.map(portable) };
      }
      if ("leaves" in request) return { id, leaves: await hashes.leaves(request.leaves, read) };
      const statement = statements.prepare(request.sql);
      return statement.reader
        ? { id, rows: statement.all(...request.bindings) }
        : { id, changes: statement.run(...request.bindings).changes };
    } catch (error) {
      return { id, failure: failureOf(error) };
    }
  };

  // Runs the requests one after another. No statement may come between the statements of a batch.
  let last: Promise<unknown> = Promise.resolve();
  port.on("message", (request: WorkerRequest | "close") => {
    last = last.then(async () => {
      if (request !== "close") {
        port.postMessage(await responseTo(request));
        return;
      }
      connection.close();
      port.close();
    });
  });
}

function portable(result: CommandResult): CommandResult {
  return result.kind === "bug" ? { kind: "bug", error: failureOf(result.error) } : result;
}

function failureOf(thrown: unknown): WorkerFailure {
  const kind = thrown instanceof StoreError ? thrown.kind : undefined;
  const error = thrown instanceof StoreError ? thrown.cause : thrown;
  if (!(error instanceof Error)) return { message: String(error), stack: undefined, code: "", kind };
  const { message, stack } = error;
  return { message, stack, code: "code" in error ? String(error.code) : "", kind };
}

function open(port: NonNullable<typeof parentPort>, { filename, masterKeyFile, isReadOnly }: WorkerFiles): void {
  let connection: BetterSqlite3.Database;
  try {
    connection = isReadOnly ? openSqliteForReading(filename) : openSqliteForWriting(filename);
  } catch (error) {
    port.postMessage({ failure: failureOf(error) } satisfies WorkerOpened);
    port.close();
    return;
  }
  serve(port, { connection, masterKeyFile });
  port.postMessage({ failure: undefined } satisfies WorkerOpened);
}

if (parentPort !== null) {
  collectWhenQuiet();
  open(parentPort, workerData as WorkerFiles);
}
