import BetterSqlite3 from "better-sqlite3";

import { atEndOfTask, MicroBatch } from "../../../runtime/micro-batch.js";
import type { Reader } from "../sql/reader.js";
import type { RowStream, Snapshot } from "../sql/snapshot.js";
import { SqliteStatements } from "./statements.js";

/** Milliseconds; a reader waits only while the log is being reset or recovered. */
const BUSY_MILLIS_MAX = 5_000;

interface Question {
  readonly sql: string;
  readonly bindings: readonly (string | number)[];
  readonly resolve: (rows: readonly unknown[]) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * A connection that only reads, on this thread: a row that is found by its key takes a few
 * microseconds, a tenth of what asking another thread, or a pool, would. What is asked together is
 * read together, in one snapshot.
 */
export class SqliteReader implements Reader {
  readonly #filename: string;
  readonly #connection: BetterSqlite3.Database;
  readonly #statements: SqliteStatements;
  readonly #questions: MicroBatch<Question>;

  /** Throws when the file can't be opened. */
  constructor(filename: string) {
    this.#filename = filename;
    this.#connection = openForReading(filename);
    this.#statements = new SqliteStatements(this.#connection);
    const answer = this.#connection.transaction((questions: readonly Question[]) => {
      for (const question of questions) this.#answer(question);
    });
    this.#questions = new MicroBatch({
      schedule: atEndOfTask,
      process: (questions) => {
        try {
          answer(questions);
        } catch (error) {
          // The snapshot itself. Those that have been answered do not hear of it.
          for (const { reject } of questions) reject(error);
        }
      },
    });
  }

  rows<Row>(sql: string, bindings: readonly (string | number)[] = []): Promise<readonly Row[]> {
    return new Promise((resolve, reject) => {
      this.#questions.add({ sql, bindings, resolve: resolve as Question["resolve"], reject });
    });
  }

  /** On a connection of its own, since others go on reading what is new. */
  async snapshot<Result>(work: (snapshot: Snapshot) => Promise<Result>): Promise<Result> {
    const connection = openForReading(this.#filename);
    const iterators: IterableIterator<unknown>[] = [];
    try {
      connection.exec("BEGIN");
      return await work({
        byCodeUnit: "COLLATE BINARY",
        rows: <Row>(sql: string): RowStream<Row> => {
          const iterator = connection.prepare<[], Row>(sql).iterate();
          iterators.push(iterator);
          return { next: () => Promise.resolve(nextOf(iterator)) };
        },
      });
    } finally {
      for (const iterator of iterators) iterator.return?.();
      connection.close();
    }
  }

  close(): Promise<void> {
    this.#connection.close();
    return Promise.resolve();
  }

  #answer({ sql, bindings, resolve, reject }: Question): void {
    try {
      resolve(this.#statements.prepare(sql).all(...bindings));
    } catch (error) {
      reject(error);
    }
  }
}

function openForReading(filename: string): BetterSqlite3.Database {
  return new BetterSqlite3(filename, { readonly: true, timeout: BUSY_MILLIS_MAX });
}

function nextOf<Row>(iterator: IterableIterator<Row>): Row | undefined {
  const { done, value } = iterator.next() as IteratorResult<Row, undefined>;
  return done === true ? undefined : value;
}
