import { expect } from "chai";

import type { RailAccountId } from "../../../src/domain/payment.js";
import { toUnixMillis } from "../../../src/domain/values/time.js";
import { railChanges } from "../../../src/parts/rail-changes.js";
import { type Cell, type Database, type DatabaseAddress, openDatabase } from "../../../src/storage/database.js";
import { keys } from "../../../src/storage/keys.js";
import { migrate } from "../../../src/storage/migrate.js";
import { withPresentAccounts } from "../../../src/storage/rails/change-rail-accounts.js";
import { leases } from "../../../src/storage/rails/leases.js";
import { storedRailAccounts } from "../../../src/storage/rails/rail-accounts.js";
import { setRailAccount } from "../../support/commands.js";
import { execute } from "../../support/databases.js";
import { TEST_MASTER_KEY_FILE } from "../../support/master-key.js";
import { sharedPostgres } from "../../support/postgres.js";

const now = toUnixMillis(1_000);

describe("rails in two cells of one database", () => {
  let database: Database;
  let cells: readonly [Cell, Cell];
  let address: DatabaseAddress & { engine: "postgres" };
  before(async () => {
    const url = await (await sharedPostgres()).createDatabase();
    // One connection reads: a change of accounts must not need a second one.
    address = { engine: "postgres", url, connectionsMax: 3, masterKeyFile: TEST_MASTER_KEY_FILE };
    await execute(address, "CREATE SCHEMA kesc_0", "CREATE SCHEMA kesc_1");
    database = await openDatabase(address);
    for (const cell of database.cells) await migrate(cell);
    cells = database.cells as unknown as readonly [Cell, Cell];
  });
  after(() => database.close());

  it("are all seen by the check of a new account, and each is stored in its own cell", async () => {
    const seen: (readonly string[])[] = [];
    const saves = cells.map(async (cell, number) => {
      const { id: organizationId } = await keys(database, () => now).createOrganization("rails", { cell: number });
      const id = `rail_${String(number)}` as RailAccountId;
      await withPresentAccounts(database, cell, async ({ all }) => {
        seen.push(all.map((account) => account.id));
        const facts = { accountsOfCell: "0:0", movesPlace: false };
        await cell.committer.commit([setRailAccount(organizationId, { railAccountId: id, facts })], now);
      });
    });
    await Promise.all(saves);
    // Both ran at once, and one of them saw the other.
    expect(seen.map(({ length }) => length)).to.deep.equal([0, 1]);
    for (const [number, cell] of cells.entries()) {
      const stored = await storedRailAccounts(cell);
      expect(stored.map(({ id }) => id)).to.deep.equal([`rail_${String(number)}`]);
    }
  });

  it("are changed one after another, so that changes that wait leave connections to those that read", async () => {
    // Two connections read.
    const opened = await openDatabase({ ...address, connectionsMax: 5 });
    const held = Promise.withResolvers<undefined>();
    const begun = Promise.withResolvers<undefined>();
    try {
      const changes = railChanges(opened, { now: () => now, hosts: [] });
      const [cell] = opened.cells;
      const { id } = await keys(opened, () => now).createOrganization("waiting", { cell: 0 });
      const command = setRailAccount(id);
      const change = () =>
        changes.submit({ id, cell: 0, isSandbox: false }, command, async () => {
          begun.resolve(undefined);
          await held.promise;
          return { kind: "done" };
        });
      const waiting = [change(), change(), change()];
      await begun.promise;
      expect(await cell.reader.rows("SELECT 1 AS one")).to.deep.equal([{ one: 1 }]);
      held.resolve(undefined);
      expect(await Promise.all(waiting)).to.deep.equal(Array(3).fill({ kind: "done" }));
    } finally {
      held.resolve(undefined);
      await opened.close();
    }
  });

  it("have leases of their own", async () => {
    for (const [number, cell] of cells.entries()) {
      const given = { holder: String(number), millis: 60_000 };
      expect(await leases(cell).take("settlement", given)).to.equal(true);
    }
  });
});
