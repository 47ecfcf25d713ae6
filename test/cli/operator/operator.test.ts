import { expect } from "chai";

import type { AccountId, TransactionId } from "../../../src/domain/values/ids.js";
import type { DatabaseAddress } from "../../../src/storage/database.js";
import { RAIL_TERMS } from "../../support/commands.js";
import { execute } from "../../support/databases.js";
import { TEST_MASTER_KEY_FILE } from "../../support/master-key.js";
import { RailOrders } from "../../support/rails/rail-orders.js";
import { type Ended, kesc, Place } from "../../support/service/kesc.js";
import { makeTenants, type Tenant, withKeys } from "../../support/service/tenants.js";

const REASON = ["--reason", "case 17"];

describe("kesc resolve, clear-flag and book corrections", () => {
  let place: Place;
  let variables: Place["variables"];
  let address: DatabaseAddress;
  let tenant: Tenant;
  beforeEach(async () => {
    place = new Place();
    variables = { ...place.variables, KESC_MASTER_KEY_FILE: TEST_MASTER_KEY_FILE };
    address = { engine: "sqlite", filename: place.databaseFile, masterKeyFile: TEST_MASTER_KEY_FILE };
    [tenant] = await withKeys(place.databaseUrl, makeTenants);
  });
  afterEach(() => {
    place.remove();
  });

  function orders<Result>(work: (orders: RailOrders) => Promise<Result>): Promise<Result> {
    return RailOrders.in(place.databaseUrl, tenant.organizationId, work);
  }

  /** Runs a command of the operator Amina, unless `person` is another. */
  function run(args: readonly string[], person = "Amina"): Promise<Ended> {
    return kesc([...args, "--org", tenant.organizationId, "--person", person, ...REASON], variables);
  }

  function resolve(id: TransactionId, args: readonly string[], person?: string): Promise<Ended> {
    return run(["resolve", id, ...args], person);
  }

  /** Writes the row of an account at a rail. */
  async function addRailAccount(given: {
    readonly id: string;
    readonly rail: string;
    readonly resolveAloneMaxCents: number;
  }): Promise<void> {
    const { id, rail, resolveAloneMaxCents } = given;
    await execute(
      address,
      `INSERT INTO rail_accounts (id, organization_id, rail, settings, payouts, payouts_reason, is_usual,
         begin_within_millis, confirm_above_cents, resolve_alone_max_cents, created_at, updated_at)
       VALUES ('${id}', '${tenant.organizationId}', '${rail}', '{}', 'open', '', 0, 1, 0, ${String(resolveAloneMaxCents)}, 0, 0)`,
    );
  }

  const detailsOf = async (kind: string): Promise<unknown[]> => {
    const rows = await execute(address, `SELECT detail FROM journal WHERE kind = '${kind}' ORDER BY seq`);
    return (rows as { detail: unknown }[]).map(({ detail }) => detail);
  };
  const verified = async (): Promise<number | null> => (await kesc(["verify", "--full-speed"], variables)).code;

  it("resolve only says what it would do, without --yes", async () => {
    const id = await orders(async (each) => each.order(await each.account("amina"), { flagged: true }));
    const intent = await resolve(id, ["--outcome", "completed", "--receipt", "RKTQDM7W01"]);
    expect(intent).to.include({ code: 2, stdout: "" });
    expect(intent.stderr).to.contain("this would end it as COMPLETED").and.to.contain("Nothing was done");
  });

  it("resolve needs a second person above the limit, and does it once", async () => {
    const id = await orders(async (each) => each.order(await each.account("amina"), { flagged: true }));
    const completed = ["--outcome", "completed", "--receipt", "RKTQDM7W01", "--yes"];
    // The same person has many names in letters of another case.
    for (const person of ["Amina", "Amina", "amina", "AMINA"]) {
      const { stdout } = await resolve(id, completed, person);
      expect(stdout, person).to.contain(`Proposed by ${person}. ${id} stays PROCESSING`);
    }
    expect((await resolve(id, completed, "Brian")).stdout).to.equal(`${id} is COMPLETED, 100.00 KESC.\n`);
    expect((await resolve(id, completed, "Brian")).stdout).to.contain("It was resolved before.");
    const other = await resolve(id, ["--outcome", "failed", "--yes"], "Brian");
    expect(other).to.include({ code: 1, stdout: "" });
    expect(other.stderr).to.contain("is already completed, in another way.");
    expect(await detailsOf("transaction.completed")).to.deep.equal(['["","Amina","Brian"]']);
    expect(await verified()).to.equal(0);
  });

  it("resolve asks for a second person above the limit of the rail account that has the payment", async () => {
    const id = await orders(async (each) => each.order(await each.account("amina"), { flagged: true }));
    await addRailAccount({ id: RAIL_TERMS.railAccountId, rail: "mpesa", resolveAloneMaxCents: 10_000 });
    await addRailAccount({ id: "rail_other", rail: "sandbox", resolveAloneMaxCents: 0 });
    const { stdout } = await resolve(id, ["--outcome", "completed", "--receipt", "RKTQDM7W01", "--yes"]);
    expect(stdout).to.equal(`${id} is COMPLETED, 100.00 KESC.\n`);
  });

  it("resolve books what really moved, and releases what did not", async () => {
    const made = await orders(async (each) => {
      const account = await each.account("amina");
      await each.order(account, { amount: "500.00", proof: { receipt: "RKTQDM7W01" } });
      return {
        account,
        less: await each.order(account, { name: "redeem", flagged: true }),
        moved: await each.order(account, { flagged: true }),
        failed: await each.order(account, { name: "redeem", flagged: true }),
      };
    });
    const moved = ["--outcome", "moved", "--amount", "90.00", "--receipt", "RKTQDM7W02", "--yes"];
    const failed = ["--outcome", "failed", "--yes"];
    for (const person of ["Amina", "Brian"]) await resolve(made.failed, failed, person);
    // A frozen account pays only for what the rail has moved.
    await orders((each) => each.freeze(made.account));
    for (const person of ["Amina", "Brian"]) {
      await resolve(made.less, ["--outcome", "moved", "--amount", "99.00", "--receipt", "RKTQDM7W03", "--yes"], person);
    }
    await resolve(made.moved, moved);
    expect((await resolve(made.moved, moved, "Brian")).stdout).to.match(
      new RegExp(
        `^${made.moved} is FAILED, 100\\.00 KESC\\.\\ntxn_\\w+ is COMPLETED, 90\\.00 KESC\\. It corrects ${made.moved}\\.\\n$`,
      ),
    );
    const accounts = "SELECT available_cents AS available, held_cents AS held FROM accounts";
    expect(await execute(address, accounts)).to.deep.equal([{ available: 49_100, held: 0 }]);
    expect(await verified()).to.equal(0);
  });

  it("resolve ends an order that the rail has, without a flag; not while the rail is asked, and not before", async () => {
    const made = await orders(async (each) => {
      const account = await each.account("amina");
      return { asked: await each.order(account), pending: await each.order(account, { pending: true }) };
    });
    const failed = ["--outcome", "failed", "--yes"];
    expect((await resolve(made.asked, failed)).stderr).to.contain("the rail was asked less than a minute ago");
    expect((await resolve(made.pending, failed)).stderr).to.contain("the rail was not asked yet. Cancel");
    await execute(address, "UPDATE payments SET begun_at = begun_at - 60000, updated_at = updated_at - 60000");
    for (const person of ["Amina", "Brian"]) await resolve(made.asked, failed, person);
    const statuses = await execute(address, `SELECT status, failure FROM transactions WHERE id = '${made.asked}'`);
    expect(statuses).to.deep.equal([{ status: "FAILED", failure: "RESOLVED_BY_OPERATOR" }]);
  });

  it("resolve refuses options that do not fit the outcome", async () => {
    const id = await orders(async (each) => each.order(await each.account("amina"), { flagged: true }));
    const wrong = [
      ["completed"],
      ["failed", "--receipt", "R"],
      ["moved", "--receipt", "R"],
      ["moved", "--amount", "1.00"],
    ];
    for (const args of wrong) {
      expect(await resolve(id, ["--outcome", ...args, "--yes"]), args.join(" ")).to.include({ code: 2, stdout: "" });
    }
  });

  it("clear-flag clears one flag, once", async () => {
    const id = await orders(async (each) => {
      const made = await each.order(await each.account("amina"), { proof: { receipt: "RKTQDM7W01" } });
      await each.flag(made, "FAILED_AFTER_COMPLETION");
      return made;
    });
    const clear = (flag: string): Promise<Ended> => run(["clear-flag", id, "--flag", flag]);
    expect((await clear("FAILED_AFTER_COMPLETION")).stdout).to.equal(
      `Cleared FAILED_AFTER_COMPLETION of ${id}. It needs no attention any more.\n`,
    );
    expect((await clear("FAILED_AFTER_COMPLETION")).stdout).to.contain("The flag FAILED_AFTER_COMPLETION is not up.");
    expect(await detailsOf("transaction.attended")).to.deep.equal(['["FAILED_AFTER_COMPLETION","Amina"]']);
    expect(await verified()).to.equal(0);
  });

  it("book receive, allocate and return move what belongs to nobody", async () => {
    const account: AccountId = await orders((each) => each.account("amina"));
    const book = (command: string, key: string, args: readonly string[], person?: string): Promise<Ended> =>
      run(["book", command, "--key", key, "--yes", ...args], person);
    const receive = ["--amount", "70.00", "--receipt", "RKTQDM7W01"];
    expect((await book("receive", "k1", receive)).stdout).to.contain("Proposed by Amina. Nothing moves until");
    expect((await book("receive", "k1", receive, "Brian")).stdout).to.contain("Done. The book: reserve 70.00");
    expect((await book("receive", "k1", receive, "Brian")).stdout).to.contain("Done before.");
    for (const person of ["Amina", "Brian"]) {
      await book("allocate", "k2", ["--amount", "50.00", "--account", account], person);
      await book("return", "k3", ["--amount", "20.00", "--receipt", "RKTQDM7W02"], person);
    }
    const sums =
      "SELECT reserve_cents AS reserve, available_cents AS available, unallocated_cents AS unallocated FROM books";
    expect((await execute(address, sums))[0]).to.deep.equal({ reserve: 5_000, available: 5_000, unallocated: 0 });

    const tooMuch = ["--amount", "1.00", "--account", account];
    const refused = await book("allocate", "k4", tooMuch);
    expect(refused).to.include({ code: 1, stdout: "" });
    expect(refused.stderr).to.contain("The book account unallocated has 0.00, but 1.00 was requested.");
    const reused = await book("receive", "k1", ["--amount", "71.00", "--receipt", "RKTQDM7W03"]);
    expect(reused.code).to.equal(1);
    expect(await verified()).to.equal(0);
  });
});
