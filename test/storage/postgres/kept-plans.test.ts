import { setTimeout as sleep } from "node:timers/promises";

import { expect } from "chai";
import pg from "pg";

import type { AccountId, OrganizationId } from "../../../src/domain/values/ids.js";
import { toUnixMillis } from "../../../src/domain/values/time.js";
import { Ledger } from "../../../src/ledger/ledger.js";
import { keys } from "../../../src/storage/keys.js";
import { KeptPlans, refusesKeptPlan } from "../../../src/storage/postgres/kept-plans.js";
import { databaseOfEachTest, execute } from "../../support/databases.js";
import { NO_DEADLINE } from "../../support/names.js";
import { createAccount } from "../../support/operations/accounts.js";
import { mint } from "../../support/operations/transactions.js";

const COUNTED_MILLIS = 1_100;

const now = () => toUnixMillis(Date.now());

describe("the plans that PostgreSQL keeps for the ledger", () => {
  const opened = databaseOfEachTest("postgres");
  let ledger: Ledger;
  let organizationId: OrganizationId;
  let accountId: AccountId;
  let minted = 0;
  const storeErrors: unknown[] = [];

  beforeEach(async () => {
    storeErrors.length = 0;
    ledger = new Ledger({
      committer: opened.cell.committer,
      now,
      batchMax: 500,
      queueMax: 10_000,
      onStoreError: (error) => storeErrors.push(error),
    });
    organizationId = (await keys(opened.database, now).createOrganization("Acme")).id;
    accountId = await customer();
  });
  afterEach(() => ledger.close());

  const customer = async (): Promise<AccountId> => {
    const command = createAccount(organizationId, `user ${String((minted += 1))}`);
    expect((await ledger.submit(command, NO_DEADLINE)).kind).to.equal("done");
    return command.newAccountId;
  };
  const pay = async (to = accountId): Promise<void> => {
    const command = mint({ organizationId, accountId: to, amount: "1.00", reference: `mint ${String((minted += 1))}` });
    expect((await ledger.submit(command, NO_DEADLINE)).kind).to.equal("done");
  };
  const sql = (text: string): Promise<readonly { readonly rows: string }[]> => execute(opened.address, text);

  /** The rows of tables and indexes that all connections have read so far. */
  const rowsRead = async (): Promise<number> => {
    // A connection counts at the end of a transaction, and once a second.
    await sleep(COUNTED_MILLIS);
    await pay();
    const [read] = await sql(
      `SELECT SUM(rows) AS rows FROM (
         SELECT SUM(seq_tup_read) AS rows FROM pg_stat_user_tables
         UNION ALL SELECT SUM(idx_tup_read) FROM pg_stat_user_indexes
       ) each`,
    );
    return Number(read?.rows);
  };

  it("read no more of a database that has grown from empty, of which PostgreSQL knows nothing", async () => {
    const customers = [accountId];
    for (let index = 0; index < 200; index += 1) customers.push(await customer());
    for (let batch = 0; batch < 20; batch += 1) await Promise.all(customers.map((each) => pay(each)));
    const before = await rowsRead();
    for (let count = 0; count < 20; count += 1) await pay();
    const read = (await rowsRead()) - before;
    expect(read).to.be.below(20 * 100);
  });

  it("give way to a column that a newer version adds below a running server", async () => {
    await pay();
    for (const table of ["accounts", "books", "transactions", "account_holders"]) {
      await sql(`ALTER TABLE ${table} ADD COLUMN newer TEXT`);
      await pay();
      await customer();
    }
    expect(storeErrors).to.deep.equal([]);
  });
});

describe("the names of statements", () => {
  const refusal = (code: string, routine?: string): Error =>
    Object.assign(new pg.DatabaseError("refused", 0, "error"), { code, routine });

  it("are those of their texts, and end once where a pooler refuses one", () => {
    let refused = 0;
    const plans = new KeptPlans(() => (refused += 1));
    const name = plans.nameOf("SELECT 1");
    expect(name).to.match(/^[-\w]{43}$/);
    expect(plans.nameOf("SELECT 1")).to.equal(name);
    expect(plans.nameOf("SELECT 2")).not.to.equal(name);
    plans.note(refusal("23505"));
    plans.note(refusal("0A000", "RevalidateCachedQuery"));
    expect(plans.nameOf("SELECT 1")).to.equal(name);
    for (const code of ["42P05", "26000"]) plans.note(refusal(code));
    expect([plans.nameOf("SELECT 1"), refused]).to.deep.equal([undefined, 1]);
  });

  it("are refused by these errors, of which a retry on another connection rids the ledger", () => {
    expect(refusesKeptPlan(refusal("0A000", "RevalidateCachedQuery"))).to.equal(true);
    expect(refusesKeptPlan(refusal("42P05"))).to.equal(true);
    expect(refusesKeptPlan(refusal("26000"))).to.equal(true);
    expect(refusesKeptPlan(refusal("0A000", "transformLockingClause"))).to.equal(false);
    expect(refusesKeptPlan(new Error("Connection terminated"))).to.equal(false);
  });

  it("come with new plans as often as the tables of a connection can double", () => {
    const plans = new KeptPlans(() => undefined);
    const connection = {};
    const renewed = Array.from({ length: 300 }, (_, index) => (plans.areOldOn(connection) ? index + 1 : 0)).filter(
      (use) => use > 0,
    );
    expect(renewed).to.include.members([1, 2, 63, 64, 128, 256]);
    expect(renewed.length).to.be.below(100);
  });
});
