import BetterSqlite3 from "better-sqlite3";
import { expect } from "chai";
import pg from "pg";

import type { Cell } from "../../../src/storage/database.js";
import type { Binding } from "../../../src/storage/sql/engine.js";
import type { Reader } from "../../../src/storage/sql/reader.js";
import { rowStatementsOf, SqliteStatements } from "../../../src/storage/sqlite/statements.js";
import type { TestDatabase } from "../../support/databases.js";

// The planner of PostgreSQL would scan small tables. The settings switch scans and joins of whole
// tables off, so it uses them only where no index leads to the rows.
const NO_LARGE_STEPS =
  "SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_hashjoin = off; " +
  "SET enable_mergejoin = off; SET plan_cache_mode = force_generic_plan";
/** The same for sorts: it sorts only where no index leads to the rows in their order. */
export const NO_SORTS = `${NO_LARGE_STEPS}; SET enable_sort = off`;

interface Heard {
  readonly sql: string;
  readonly bindings: readonly Binding[];
}

/**
 * Runs `work` on the cell, and returns the plan of each statement that it ran: reads, lists,
 * and the statements of transactions that return rows. On PostgreSQL the planner has the settings.
 * On SQLite it fails if a statement, or a write of a transaction, is compiled at every execution.
 */
export async function heardPlans(
  opened: TestDatabase,
  work: (cell: Cell) => Promise<unknown>,
  settings = NO_LARGE_STEPS,
): Promise<readonly (readonly string[])[]> {
  const heard: Heard[] = [];
  const statements = new Set<string>();
  const { cell, address } = opened;
  const hearing = (reader: Pick<Reader, "rows">): Reader["rows"] => {
    return (sql, bindings = []) => {
      heard.push({ sql, bindings });
      return reader.rows(sql, bindings);
    };
  };
  const transact: Cell["transact"] = (change) =>
    cell.transact((session) =>
      change({
        write: (writes) => {
          for (const { one, together = one } of writes.map(({ sql }) => rowStatementsOf(sql))) {
            statements.add(one).add(together);
          }
          return session.write(writes);
        },
        read: (read) => {
          heard.push(read);
          return session.read(read);
        },
      }),
    );
  const reader: Reader = {
    rows: hearing(cell.reader),
    snapshot: (read) => cell.reader.snapshot(read),
    close: () => Promise.resolve(),
  };
  // Without a thread for leaves, their rows are read by statements that can be heard.
  await work({ ...cell, reader, listReader: { rows: hearing(cell.listReader) }, transact });
  if (heard.length === 0) throw new Error("no statement was run");
  for (const { sql } of heard) statements.add(sql);
  if (address.engine === "sqlite") expectCompiledOnce(address.filename, statements);
  return address.engine === "sqlite" ? plansOnSqlite(cell, heard) : plansOnPostgres(opened.url, heard, settings);
}

function plansOnSqlite({ reader }: Cell, heard: readonly Heard[]): Promise<readonly (readonly string[])[]> {
  const planOf = async ({ sql, bindings }: Heard): Promise<readonly string[]> => {
    const rows = await reader.rows<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`, bindings);
    return rows.map(({ detail }) => detail);
  };
  return Promise.all(heard.map(planOf));
}

async function plansOnPostgres(
  url: string,
  heard: readonly Heard[],
  settings: string,
): Promise<readonly (readonly string[])[]> {
  const plans: string[][] = [];
  const client = new pg.Client(url);
  await client.connect();
  try {
    await client.query(settings);
    for (const { sql, bindings } of heard) {
      let count = 0;
      const text = sql.replaceAll("?", () => `$${String((count += 1))}`);
      const { rows } = await client.query<{ "QUERY PLAN": string }>(`EXPLAIN (COSTS OFF) ${text}`, [...bindings]);
      plans.push(rows.map((row) => row["QUERY PLAN"]));
    }
  } finally {
    await client.end();
  }
  return plans;
}

/** Fails if SQLite compiles a statement, prepared as the service does, at every execution. */
export function expectCompiledOnce(filename: string, statements: Iterable<string>): void {
  for (const sql of statements) expect(isCompiledAgain(filename, sql), `compiled again: ${sql}`).to.equal(false);
}

/**
 * Returns whether SQLite compiles a statement again after other values were bound to it.
 *
 * EXPLAIN lists the compiled program, which contains the version of the schema. Listing does not
 * check that version. So after a change of the schema, only a new compilation shows the new one.
 */
export function isCompiledAgain(filename: string, sql: string): boolean {
  const names = Array.from(sql.matchAll(/[@:](\w+)/g), ([, name = ""]) => name);
  const bindingsOf = (value: number): unknown[] =>
    names.length > 0
      ? [Object.fromEntries(names.map((name) => [name, value]))]
      : Array.from(sql.matchAll(/\?/g), () => value);
  const connection = new BetterSqlite3(filename);
  try {
    const listing = new SqliteStatements(connection).prepare(`EXPLAIN ${sql}`);
    const schemaVersion = (value: number): unknown => {
      const program = listing.all(...bindingsOf(value)) as { opcode: string; p3: number }[];
      const start = program.find(({ opcode }) => opcode === "Transaction");
      if (start === undefined) throw new Error(`the statement reads no table: ${sql}`);
      return start.p3;
    };
    // Closing the connection rolls the change back.
    connection.exec("BEGIN");
    const before = schemaVersion(1);
    connection.exec("CREATE TABLE another (number INTEGER)");
    return schemaVersion(7) !== before;
  } finally {
    connection.close();
  }
}
