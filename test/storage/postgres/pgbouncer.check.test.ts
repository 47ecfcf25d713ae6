import { expect } from "chai";
import pg from "pg";

import type { Database } from "../../../src/storage/database.js";
import { execute, openDatabaseAt } from "../../support/databases.js";
import { findingsIn } from "../../support/findings.js";
import { sharedPostgres } from "../../support/postgres.js";
import { migrateCells, Minter } from "../../support/postgres/cells.js";
import { findPgbouncer, Pgbouncer } from "../../support/postgres/pgbouncer.js";

const CELLS = 4;
const ROUNDS = 5;
const BATCH = 20;

// PgBouncer gives one connection to many clients. So a statement must not depend on what an earlier
// client has set.
describe("four cells through PgBouncer", () => {
  // In session mode each client keeps a connection. In transaction mode they share a few.
  for (const [mode, connections] of [
    ["session", 20],
    ["transaction", 6],
  ] as const) {
    it(`writes no row into another cell (${mode} mode)`, async function () {
      const program = findPgbouncer();
      if (program === undefined) {
        process.stdout.write("      skipped: pgbouncer not found\n");
        this.skip();
      }
      const url = await (await sharedPostgres()).createDatabase();
      const bouncer = await Pgbouncer.start(program, { url, mode, connections });
      try {
        await migrateCells(bouncer.url, CELLS);
        await misdirect(bouncer.url);
        const database = await openDatabaseAt(bouncer.url);
        try {
          const minters = await mintInAllCells(database, bouncer.url);
          expect(await findingsIn(database)).to.deep.equal([]);
          await expectOwnRows(url, minters);
        } finally {
          await database.close();
        }
      } finally {
        await bouncer.stop();
      }
    });
  }
});

/** Leaves a search path behind that leads to the wrong cell. */
async function misdirect(url: string): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  await client.query("SET search_path = kesc_3");
  await client.end();
}

async function mintInAllCells(database: Database, url: string): Promise<readonly Minter[]> {
  const minters: Minter[] = [];
  for (let index = 0; index < 2 * CELLS; index += 1) {
    minters.push(await Minter.create(database, `organization ${String(index)}`));
  }
  for (let round = 0; round < ROUNDS; round += 1) {
    await misdirect(url);
    await Promise.all(minters.map((minter) => minter.mint(database, BATCH)));
  }
  return minters;
}

/** Reads the tables directly: each cell has the rows of its own organizations, and no others. */
async function expectOwnRows(url: string, minters: readonly Minter[]): Promise<void> {
  const address = { engine: "postgres", url, connectionsMax: 1, masterKeyFile: "" } as const;
  for (let cell = 0; cell < CELLS; cell += 1) {
    const schema = `kesc_${String(cell)}`;
    const rows = await execute<{ organization_id: string; transactions: string }>(
      address,
      `SELECT b.organization_id, count(t.id) AS transactions FROM ${schema}.books b
       LEFT JOIN ${schema}.transactions t ON t.book = b.number GROUP BY b.organization_id`,
    );
    const own = minters.filter(({ cellNumber }) => cellNumber === cell);
    expect(own).to.have.length(2);
    expect(new Map(rows.map((row) => [row.organization_id, Number(row.transactions)]))).to.deep.equal(
      new Map(own.map(({ organizationId, minted }) => [organizationId, minted])),
    );
  }
}
