import { expect } from "chai";

import { toUnixMillis } from "../../../src/domain/values/time.js";
import { keys } from "../../../src/storage/keys.js";
import { openDatabaseAt } from "../../support/databases.js";
import { findingsAt } from "../../support/findings.js";
import { newAccountId } from "../../support/names.js";
import { createAccount } from "../../support/operations/accounts.js";
import { mint } from "../../support/operations/transactions.js";
import { kesc, kescJson, Place } from "../../support/service/kesc.js";

const NOTE = ["--note", "licence"];

interface LimitsJson {
  readonly limits: { readonly account_id: string; readonly tier: string; readonly limits: readonly object[] };
  readonly tiers: readonly object[];
}

describe("the limits, by the command line", () => {
  let place: Place;
  let accountId: string;
  before(async () => {
    place = await Place.migrated();
    const database = await openDatabaseAt(place.variables["DATABASE_URL"] ?? "");
    const now = toUnixMillis(Date.now());
    const { id: organizationId } = await keys(database, () => now).createOrganization("acme");
    const create = createAccount(organizationId, "amina");
    accountId = create.newAccountId;
    const deposit = mint({ organizationId, accountId: create.newAccountId, amount: "7.00", reference: "in" });
    await database.cells[0].committer.commit([create, deposit], now);
    await database.close();
  });
  after(() => {
    place.remove();
  });

  const limits = (...args: string[]) => kesc(["limits", ...args], place.variables);

  it("says how to set one while there are none", async () => {
    const shown = await limits("show", "acme");
    expect(shown).to.include({ code: 0 });
    expect(shown.stdout).to.match(/^No limits\. To set one: kesc limits set ORG /);
  });

  it("sets some, leaves the others as they are, and lifts one", async () => {
    const set = await limits("set", "acme", "--mint-per-day", "100.00", "--redeem-per-transaction", "0", ...NOTE);
    expect(set.stdout, set.stderr).to.equal("Changed the limits of acme. They hold from now on.\n");
    expect((await limits("set", "acme", "--mint-per-day", "100.00", ...NOTE)).stdout).to.match(/are so already/);
    expect(
      await limits("set", "acme", "--mint-per-month", "500.00", "--redeem-per-transaction", "none", ...NOTE),
    ).to.include({ code: 0 });
    const shown = await limits("show", "acme");
    expect(shown.stdout).to.match(/WHOSE +TYPE +PERIOD +MAX AMOUNT +USED +REMAINING +RESETS AT/);
    expect(shown.stdout).to.match(/organization +mint +day +100\.00 +0\.00 +100\.00 +\d{4}-\d\d-\d\dT21:00:00\.000Z/);
    expect(shown.stdout).not.to.include("redeem");
  });

  it("moves an account to a tier, and says so", async () => {
    const tier = (name: string, id = accountId) =>
      kesc(["account", "tier", id, "--org", "acme", "--tier", name, "--note", "checked"], place.variables);
    expect(await limits("set", "acme", "--tier", "full", "--mint-per-day", "50.00", ...NOTE)).to.include({ code: 0 });
    expect((await tier("full")).stdout).to.match(/now has the tier full/);
    expect((await tier("full")).stdout).to.match(/has the tier full already/);
    expect((await tier("default", newAccountId())).stderr).to.match(/^Account acc_\w+ was not found\./);
    expect((await tier("Full!")).stderr).to.include("lower-case");
    const shown = await limits("show", "acme", "--account", accountId);
    expect(shown.stdout).to.match(/account, tier full +mint +day +50\.00 +0\.00 +50\.00/);
  });

  it("shows a tier without limits as the default one, and prints JSON", async () => {
    expect((await limits("remove", "acme", "--tier", "full", ...NOTE)).stdout).to.match(/the tier full of acme/);
    const set = await limits("set", "acme", "--tier", "default", "--redeem-per-month", "9.00", ...NOTE);
    expect(set, set.stderr).to.include({ code: 0 });
    const args = ["limits", "show", "acme", "--account", accountId, "--json"];
    const { limits: shown, tiers } = await kescJson<LimitsJson>(args, place.variables);
    expect([shown.account_id, shown.tier, tiers]).to.deep.equal([accountId, "full", []]);
    expect(shown.limits[0]).to.include({
      type: "redeem",
      period: "month",
      max_amount: "9.00",
      used: "0.00",
      remaining: "9.00",
    });
  });

  it("refuses what it cannot do, in words", async () => {
    expect((await limits("set", "acme", ...NOTE)).stderr).to.include("Give at least one limit");
    expect((await limits("set", "acme", "--mint-per-day", "many", ...NOTE)).stderr).to.include("It must be a decimal");
    expect((await limits("set", "acme", "--tier", "No", "--mint-per-day", "1", ...NOTE)).stderr).to.include(
      "lower-case",
    );
    expect((await limits("show", "acme", "--account", newAccountId())).stderr).to.include("was not found");
    expect(await findingsAt(place.variables["DATABASE_URL"])).to.deep.equal([]);
  });
});
