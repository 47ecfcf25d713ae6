import { expect } from "chai";

import type { RailAccountId } from "../../../src/domain/payment.js";
import type { OrganizationId } from "../../../src/domain/values/ids.js";
import { toUnixMillis } from "../../../src/domain/values/time.js";
import { railChanges } from "../../../src/parts/rail-changes.js";
import { type Cell, type Database, type DatabaseAddress, openDatabase } from "../../../src/storage/database.js";
import { keys } from "../../../src/storage/keys.js";
import { migrate } from "../../../src/storage/migrate.js";
import { type StateOfAccounts, stateOfAccounts } from "../../../src/storage/rails/change-rail-accounts.js";
import { leases } from "../../../src/storage/rails/leases.js";
import { storedRailAccounts } from "../../../src/storage/rails/rail-accounts.js";
import { execute } from "../../support/databases.js";
import { TEST_MASTER_KEY_FILE } from "../../support/master-key.js";
import { setRailAccount } from "../../support/operations/rails.js";
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

  it("are all seen by the check of a new account: of two at once, in two cells, one is refused and sees the other", async () => {
    const results: (string | undefined)[] = [];
    const organizations = await Promise.all(
      cells.map((cell, number) => keys(database, () => now).createOrganization("rails", { cell: number })),
    );
    const save = async (number: 0 | 1, { accountsOfAll }: Pick<StateOfAccounts, "accountsOfAll">) => {
      const facts = { accountsOfAll, movesPlace: false };
      const id = organizations[number]?.id as OrganizationId;
      const command = setRailAccount(id, { railAccountId: `rail_${String(number)}` as RailAccountId, facts });
      const [result] = await cells[number].committer.commit([command], now);
      return result?.kind === "refused" ? result.refusal.reason : result?.kind;
    };
    const present = await stateOfAccounts(database);
    results.push(...(await Promise.all([save(0, present), save(1, present)])));
    expect(results.toSorted()).to.deep.equal(["RAIL_ACCOUNT_CHANGED", "done"]);
    const again = await stateOfAccounts(database);
    expect(again.all).to.have.lengthOf(1);
    expect(await save(results[0] === "done" ? 1 : 0, again)).to.equal("done");
    for (const [number, cell] of cells.entries()) {
      const stored = await storedRailAccounts(cell);
      expect(stored.map(({ id }) => id)).to.deep.equal([`rail_${String(number)}`]);
    }
  });

  it("are changed without a transaction that waits for the commit of another one", async () => {
    // Two connections read.
    const opened = await openDatabase({ ...address, connectionsMax: 5 });
    const held = Promise.withResolvers<undefined>();
    const begun = Promise.withResolvers<undefined>();
    try {
      const changes = railChanges(opened, { callbacks: () => undefined, isServer: true, now: () => now, hosts: [] });
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
      const idle = "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in %'";
      expect(await cell.reader.rows(idle)).to.deep.equal([]);
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
