import { expect } from "chai";
import pg from "pg";

import { openServableDatabase } from "../../src/startup/open-database.js";
import { OperatorError } from "../../src/startup/operator-error.js";
import {
  mayRunBesideServers,
  mayServe,
  migrationState,
  SCHEMA_RELEASE,
  servesFrom,
} from "../../src/storage/migrate.js";
import { GrpcCaller } from "../support/callers/grpc-caller.js";
import { ENGINES_OF_STAGE, execute, openTestDatabase, type TestDatabase } from "../support/databases.js";
import { withOneMoreMigration } from "../support/one-more-migration.js";
import { kesc, RunningKesc, type Variables } from "../support/service/kesc.js";
import { makeTenant, withKeys } from "../support/service/tenants.js";

// Schema N serves programs N and N-1 (docs/run.md). This program takes the part of the old one
// when the database has a migration that it does not know, and of the new one when it lacks one.

const NEXT = `9998-next.serves-${String(SCHEMA_RELEASE)}`;
const INCOMPATIBLE = "9999-incompatible";
/** A migration that this program has, and the database does not. */
const LATER = "0002-later";

describe("the names of migrations", () => {
  it("say which servers may go on", () => {
    expect(servesFrom("0002-tiers.serves-1")).to.equal(1);
    expect(servesFrom("0002-tiers")).to.equal(undefined);
    expect(servesFrom("0002-tiers.serves-1-and-more")).to.equal(undefined);
    expect(servesFrom("0002-tiers.serves-0")).to.equal(undefined);
  });

  for (const [unknown, release, expected] of [
    [[], 1, true],
    [["0002-a.serves-1", "0003-b.serves-1"], 1, true],
    [["0002-a.serves-1", "0003-b"], 1, false],
    [["0002-a.serves-1", "0004-c.serves-2"], 1, false],
    [["0004-c.serves-2"], 2, true],
  ] as const) {
    it(`release ${String(release)} ${expected ? "serves" : "does not serve"} ${unknown.join(", ") || "its own"}`, () => {
      expect(mayServe(unknown, release)).to.equal(expected);
    });
  }

  for (const [pending, expected] of [
    [["0002-a.serves-1", "0003-b.serves-1"], true],
    [["0002-a.serves-1", "0003-b"], false],
    [["0002-a.serves-1", "0004-c.serves-2"], false],
  ] as const) {
    it(`servers ${expected ? "may" : "may not"} run beside ${pending.join(", ")}`, () => {
      expect(mayRunBesideServers(pending)).to.equal(expected);
    });
  }
});

for (const engine of ENGINES_OF_STAGE) {
  describe(`a schema of another release (${engine})`, () => {
    let opened: TestDatabase;
    let variables: Variables;
    beforeEach(async () => {
      opened = await openTestDatabase(engine);
      variables = { DATABASE_URL: opened.url, KESC_GRPC_ADDRESS: "127.0.0.1:0", KESC_LOG_LEVEL: "fatal" };
    });
    afterEach(() => opened.dispose());

    /** Migrates as the next release could: a column with a default, a table, and the name. */
    function migrateToNext(name: string): Promise<unknown> {
      return execute(
        opened.address,
        "ALTER TABLE transactions ADD COLUMN tier TEXT NOT NULL DEFAULT 'plain'",
        `ALTER TABLE accounts ADD COLUMN day_cents ${opened.cell.engine.int64} NOT NULL DEFAULT 0`,
        "CREATE TABLE tiers (name TEXT PRIMARY KEY)",
        `INSERT INTO knex_migrations (name, batch, migration_time) VALUES ('${name}', 99, CURRENT_TIMESTAMP)`,
      );
    }

    it("that is each release's own names no release to come", async () => {
      const rows = await execute<{ name: string }>(opened.address, "SELECT name FROM knex_migrations");
      for (const { name } of rows) expect(servesFrom(name) ?? 0, name).to.be.lessThan(SCHEMA_RELEASE);
    });

    it("that is newer and says so is served on, and served after a restart", async () => {
      const { key } = await withKeys(opened.url, (keys) => makeTenant(keys, "A"));
      const before = new RunningKesc(["server"], variables);
      const caller = new GrpcCaller((await before.ready).address, { key });
      const user = { user_id: "wanjiku", phone_number: "0712345678" };
      const { account } = (await caller.call("CreateAccount", user)).response as { account: { id: string } };
      const move = (of: GrpcCaller, rpc: "Mint" | "Redeem", reference: string): Promise<{ code: number }> =>
        of.call(rpc, { account_id: account.id, amount: "1.00", reference });
      expect((await move(caller, "Mint", "1")).code).to.equal(0);
      await migrateToNext(NEXT);

      expect((await move(caller, "Mint", "2")).code).to.equal(0);
      const after = new RunningKesc(["server"], variables);
      const restarted = new GrpcCaller((await after.ready).address, { key });
      expect((await move(restarted, "Mint", "3")).code).to.equal(0);
      for (const each of [caller, restarted]) {
        expect((await move(each, "Redeem", "4")).code).to.equal(0);
        const list = await each.call("ListTransactions", { account_id: account.id });
        expect(list.response["transactions"]).to.have.lengthOf(4);
        const read = await each.call("GetAccount", { account_id: account.id });
        expect(read.response["account"]).to.include({ available_balance: "2.00" });
        each.close();
      }
      expect(await before.end()).to.equal(0);
      expect(await after.end()).to.equal(0);
      const tiers = await execute(opened.address, "SELECT DISTINCT tier FROM transactions");
      expect(tiers).to.deep.equal([{ tier: "plain" }]);
    });

    it("that is newer and says so is refused by every other command, and kesc doctor warns", async () => {
      await migrateToNext(NEXT);
      for (const command of [["verify"], ["migrate"], ["org", "list"], ["book", "list"]]) {
        const { code, stderr } = await kesc(command, variables);
        expect(code, command.join(" ")).to.equal(command.includes("verify") ? 3 : 1);
        expect(stderr).to.include(`has the migrations ${NEXT}, which this version of kesc does not know.`);
        expect(stderr).to.match(/Servers of this version may serve it, .* use the version that created them\./);
      }
      const { stdout } = await kesc(["doctor"], variables);
      expect(stdout).to.match(/^warn +schema +The database has the schema of the next release .*run\.md/m);
    });

    it("that is newer and does not say so is refused by a server, too", async () => {
      await migrateToNext(NEXT);
      const sql = `INSERT INTO knex_migrations (name, batch, migration_time) VALUES ('${INCOMPATIBLE}', 99, CURRENT_TIMESTAMP)`;
      await execute(opened.address, sql);
      const { code, stderr } = await kesc(["server"], variables);
      expect(code).to.equal(1);
      expect(stderr).to.include(
        `has the migrations ${NEXT}, ${INCOMPATIBLE}, which this version of kesc does not know.`,
      );
      expect(stderr).to.include("Use the version that created them, or restore an earlier backup.");
      expect((await kesc(["doctor"], variables)).stdout).to.match(/^fail +schema .*Use the version that created them/m);
    });

    it("that is older is refused by a server, with the command to run, which asks for the servers to stop", async () => {
      const later = { name: LATER, migration: () => ["CREATE TABLE later (id TEXT)"] };
      await withOneMoreMigration(later, async () => {
        const refused: unknown = await openServableDatabase(opened.address).catch((error: unknown) => error);
        expect(refused).to.be.instanceOf(OperatorError);
        expect((refused as Error).message).to.include(`lacks the migrations ${LATER}. Run: kesc migrate`);
        const migrating = await kesc(["migrate"], variables);
        expect(migrating.code).to.equal(1);
        expect(migrating.stderr)
          .to.match(new RegExp(`beside the migrations ${LATER}\\. Nothing was migrated\\.`))
          .and.match(/Stop all servers, back up, and run: kesc migrate --servers-stopped/);
        expect((await migrationState(opened.cell)).pending).to.deep.equal([LATER]);
        const { code, stdout } = await kesc(["migrate", "--servers-stopped"], variables);
        expect({ code, stdout }).to.deep.equal({ code: 0, stdout: `Migrated: ${LATER}.\n` });
        expect((await kesc(["verify"], variables)).code).to.equal(0);
      });
    });
  });
}

describe("a migration that would have to wait for a lock (postgres)", () => {
  it("gives up, changes nothing and says why: all servers would wait behind it", async () => {
    const opened = await openTestDatabase("postgres");
    const later = { name: LATER, migration: () => ["ALTER TABLE api_keys ADD COLUMN later TEXT"] };
    await withOneMoreMigration(later, async () => {
      const client = new pg.Client(opened.url);
      await client.connect();
      await client.query("BEGIN; LOCK TABLE api_keys IN ROW EXCLUSIVE MODE");
      const variables = { DATABASE_URL: opened.url };
      const { code, stderr } = await kesc(["migrate", "--servers-stopped"], variables);
      expect(code).to.equal(1);
      expect(stderr).to.match(/Another transaction holds a table .* Run kesc migrate again when that has ended\./);
      expect((await migrationState(opened.cell)).pending).to.deep.equal([LATER]);
      await client.end();
      expect((await kesc(["migrate", "--servers-stopped"], variables)).code).to.equal(0);
    });
    await opened.dispose();
  });
});
