import type { Knex } from "knex";

import type { Binding, Engine } from "../sql/engine.js";
import type { Reader } from "../sql/reader.js";
import type { RowStream, Snapshot } from "../sql/snapshot.js";
import { type ConnectionLimits, localSettings } from "./address.js";

const FETCHED_ROWS = 5_000;

/** Reads one cell on the connections of a pool. The owner of the pool closes it. */
export class PostgresReader implements Reader {
  readonly #pool: Knex;
  readonly #engine: Engine;
  readonly #limits: ConnectionLimits;

  constructor(pool: Knex, engine: Engine, limits: ConnectionLimits) {
    this.#pool = pool;
    this.#engine = engine;
    this.#limits = limits;
  }

  rows<Row>(sql: string, bindings: readonly Binding[] = []): Promise<readonly Row[]> {
    return query<Row>(this.#pool, sql, bindings);
  }

  snapshot<Result>(work: (snapshot: Snapshot) => Promise<Result>): Promise<Result> {
    return this.#pool.transaction(async (knex) => {
      await run(knex, `SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY; ${localSettings(this.#limits)}`);
      return onSnapshot(knex, this.#engine, work);
    });
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

function onSnapshot<Result>(
  knex: Knex,
  { table }: Engine,
  work: (snapshot: Snapshot) => Promise<Result>,
): Promise<Result> {
  let cursors = 0;
  return work({
    table,
    rows: (sql, bindings = []) =>
      new PostgresCursor(knex, { name: `snapshot_${String((cursors += 1))}`, sql, bindings }),
  });
}

/** The cursor closes when its transaction ends. */
class PostgresCursor<Row> implements RowStream<Row> {
  readonly #knex: Knex;
  readonly #name: string;
  readonly #declared: Promise<void>;
  #fetched: readonly Row[] = [];
  #position = 0;
  #atEnd = false;

  constructor(knex: Knex, { name, sql, bindings }: { name: string; sql: string; bindings: readonly Binding[] }) {
    this.#knex = knex;
    this.#name = name;
    this.#declared = run(knex, `DECLARE ${name} NO SCROLL CURSOR FOR ${sql}`, bindings);
    // next() awaits the same promise and throws its error.
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

async function query<Row>(knex: Knex, sql: string, bindings: readonly Binding[] = []): Promise<readonly Row[]> {
  const { rows } = await knex.raw<{ readonly rows: readonly Row[] }>(sql, [...bindings] as Knex.RawBinding[]);
  return rows;
}

async function run(knex: Knex, sql: string, bindings: readonly Binding[] = []): Promise<void> {
  await query(knex, sql, bindings);
}
