import type BetterSqlite3 from "better-sqlite3";
import type { Knex } from "knex";

import type { Database } from "./database.js";
import { query, run } from "./query.js";

/** Rows of one SELECT, one after the other. Holds a bounded number of them in memory. */
export interface RowStream<Row> {
  /** The next row; undefined after the last. */
  next(): Promise<Row | undefined>;
}

/** The database as it was at one moment, whatever is written meanwhile. */
export interface Snapshot {
  /** Stands behind a column of texts in ORDER BY: orders as JavaScript compares, whatever the database's locale is. */
  readonly byCodeUnit: string;
  /** Several streams may be open at once. */
  rows<Row>(sql: string): RowStream<Row>;
}

const FETCHED_ROWS = 5_000;

/** Runs `work` on a snapshot that ends with it. Waits for nobody, and nobody waits for it. */
export function withSnapshot<Result>(
  database: Database,
  work: (snapshot: Snapshot) => Promise<Result>,
): Promise<Result> {
  return database.engine.name === "sqlite"
    ? withSqliteSnapshot(database.read, work)
    : database.read.transaction((knex) => onPostgresSnapshot(knex, work));
}

// Knex answers all rows of a query at once. Its connection is borrowed for the driver's own iterator.
async function withSqliteSnapshot<Result>(knex: Knex, work: (snapshot: Snapshot) => Promise<Result>): Promise<Result> {
  const client = knex.client as {
    acquireConnection(): Promise<BetterSqlite3.Database>;
    releaseConnection(connection: BetterSqlite3.Database): Promise<void>;
  };
  const connection = await client.acquireConnection();
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
    connection.exec("COMMIT");
    await client.releaseConnection(connection);
  }
}

function nextOf<Row>(iterator: IterableIterator<Row>): Row | undefined {
  const { done, value } = iterator.next() as IteratorResult<Row, undefined>;
  return done === true ? undefined : value;
}

async function onPostgresSnapshot<Result>(knex: Knex, work: (snapshot: Snapshot) => Promise<Result>): Promise<Result> {
  await run(knex, "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY");
  let cursors = 0;
  return work({
    byCodeUnit: 'COLLATE "C"',
    rows: (sql) => new PostgresCursor(knex, { name: `verify_${String((cursors += 1))}`, sql }),
  });
}

/** Ends with the transaction that it was declared in. */
class PostgresCursor<Row> implements RowStream<Row> {
  readonly #knex: Knex;
  readonly #name: string;
  readonly #declared: Promise<void>;
  #fetched: readonly Row[] = [];
  #position = 0;
  #atEnd = false;

  constructor(knex: Knex, { name, sql }: { name: string; sql: string }) {
    this.#knex = knex;
    this.#name = name;
    this.#declared = run(knex, `DECLARE ${name} NO SCROLL CURSOR FOR ${sql}`);
    // Heard by whoever asks for the first row.
    this.#declared.catch(() => undefined);
  }

  async next(): Promise<Row | undefined> {
    if (this.#position === this.#fetched.length && !this.#atEnd) {
      await this.#declared;
      this.#fetched = await query<Row>(this.#knex, `FETCH ${String(FETCHED_ROWS)} FROM ${this.#name}`);
      this.#position = 0;
      this.#atEnd = this.#fetched.length < FETCHED_ROWS;
    }
    const row = this.#fetched[this.#position];
    if (row !== undefined) this.#position += 1;
    return row;
  }
}
