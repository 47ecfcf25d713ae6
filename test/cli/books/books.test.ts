import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect } from "chai";

import type { OrganizationId } from "../../../src/domain/values/ids.js";
import { toUnixMillis } from "../../../src/domain/values/time.js";
import { keys } from "../../../src/storage/keys.js";
import { openDatabaseAt } from "../../support/databases.js";
import { findingsAt } from "../../support/findings.js";
import { createAccount } from "../../support/operations/accounts.js";
import { mint } from "../../support/operations/transactions.js";
import { unguardedly } from "../../support/seals/unguarded-rows.js";
import { kesc, kescJson, Place } from "../../support/service/kesc.js";

const DAY = "2026-11-02";

describe("the book for the accountant, by the command line", () => {
  let place: Place;
  let organizationId: OrganizationId;
  let accountId: string;
  before(async () => {
    place = await Place.migrated();
    const database = await openDatabaseAt(place.variables["DATABASE_URL"] ?? "");
    const past = toUnixMillis(Date.now() - 600_000);
    organizationId = (await keys(database, () => past).createOrganization("acme")).id;
    const create = createAccount(organizationId, "amina");
    accountId = create.newAccountId;
    const common = { organizationId, accountId: create.newAccountId };
    const first = mint({ ...common, amount: "1000.00", reference: "=1+1" });
    const second = mint({ ...common, amount: "0.50", reference: "r-2", receipt: "kcb-1:FT1" });
    const committer = database.cells[0].committer;
    const results = await committer.commit([create, first, second], past);
    expect(results.map(({ kind }) => kind)).to.deep.equal(["done", "done", "done"]);
    await database.close();
  });
  after(() => {
    place.remove();
  });

  const period = (): string[] => ["--from", "2020-01-01", "--to", new Date(Date.now() - 120_000).toISOString()];

  it("writes a statement into a new file, which appears when it is complete", async () => {
    const file = join(place.folder, "statement.csv");
    const args = ["export", "statement", "acme", "--account", accountId, ...period(), "--bom", "--output", file];
    expect(await kesc(args, place.variables)).to.include({ code: 0 });
    const text = readFileSync(file, "utf8");
    expect(text.startsWith("\uFEFFsequence,date,recorded_at,type,")).to.equal(true);
    expect(text).to.include(",'=1+1,");
    const rows = text.trimEnd().split("\r\n");
    expect(rows).to.have.lengthOf(5);
    expect(rows[4]).to.include(`,closing,,,,,1000.50,0.00,1000.50,1000.50,0.00,${organizationId},${accountId}`);
    expect(existsSync(`${file}.part`)).to.equal(false);
    const again = await kesc(args, place.variables);
    expect(again).to.include({ code: 1 });
    expect(readFileSync(file, "utf8")).to.equal(text);
  });

  it("writes the general ledger and the journal to standard output", async () => {
    const ledger = await kesc(["export", "ledger", "acme", ...period(), "--format", "json"], place.variables);
    const lines = JSON.parse(ledger.stdout) as { type: string; debit: number | null; credit: number | null }[];
    const closing = lines.filter(({ type }) => type === "closing");
    const sum = (side: "debit" | "credit"): number => closing.reduce((total, line) => total + (line[side] ?? 0), 0);
    expect([closing.length, sum("debit"), sum("credit")]).to.deep.equal([6, 1000.5, 1000.5]);
    const file = join(place.folder, "accounts.json");
    writeFileSync(file, JSON.stringify({ reserve: "1010" }));
    const own = await kesc(["export", "ledger", "acme", ...period(), "--accounts", file], place.variables);
    expect(own.stdout)
      .to.match(/^sequence,.*,account_number\r\n/)
      .and.to.match(/,reserve,.*,1010\r\n/);
    expect(own.stderr).to.equal(
      "Without an account number: available, charges, held, shortfall, unallocated. Add it to the file of --accounts.\n",
    );
    const folder = join(place.folder, "files");
    mkdirSync(folder);
    writeFileSync(file, JSON.stringify({ reserve: "1010", "reserve:kcb-1": "1011", available: "2010" }));
    const whole = ["--postings-only", "--accounts", file, "--output", folder];
    const days = ["--from", "2020-01-01", "--to", "2020-01-31"];
    expect(await kesc(["export", "ledger", "acme", ...days, ...whole], place.variables)).to.include({
      code: 0,
      stderr: "",
    });
    expect(readdirSync(folder)).to.deep.equal([`general-ledger-${organizationId}-2020-01-01-2020-01-31.csv`]);
    const postings = await kesc(
      ["export", "ledger", "acme", ...period(), "--postings-only", "--accounts", file],
      place.variables,
    );
    const sides = postings.stdout.trimEnd().split("\r\n").slice(1);
    expect(sides.map((line) => line.slice(line.lastIndexOf(",") + 1))).to.deep.equal(["1010", "2010", "1011", "2010"]);
    expect(sides[2]).to.include(",mint,kcb-1,KES,amina,");
    writeFileSync(file, JSON.stringify({ cash: "1010" }));
    const unknown = await kesc(["export", "ledger", "acme", ...period(), "--accounts", file], place.variables);
    expect(unknown.stderr).to.include("--accounts").and.to.include("cash");
    const journal = await kesc(["export", "journal", "acme", ...period(), "--format", "ndjson"], place.variables);
    expect(journal.stdout).to.include('"amount":1000.00');
  });

  it("refuses a period that is not over, and an account of nobody", async () => {
    const future = await kesc(["export", "journal", "acme", "--from", DAY, "--to", "2126-01-01"], place.variables);
    expect(future).to.include({ code: 2 });
    const none = await kesc(["export", "statement", "acme", "--account", "acc_x", ...period()], place.variables);
    expect(none).to.include({ code: 1, stdout: "" });
  });

  it("records where the reserve lies, and never says that it is fine", async () => {
    const before = await kesc(["supply"], place.variables);
    expect(before.stdout).to.match(/1000\.50 +1000\.50 +unknown +-/);
    const figure = ["--place", "KCB 1234", "--as-of", DAY, "--evidence", "statement 11"];
    for (const amount of ["900.00", "1000.50"]) {
      const recorded = await kesc(["reserve", "record", "acme", ...figure, "--amount", amount], place.variables);
      expect(recorded, recorded.stderr).to.include({ code: 0 });
    }
    const places = await kescJson<Record<string, unknown>[]>(["reserve", "list", "acme"], place.variables);
    expect(places).to.have.lengthOf(1);
    expect(places[0]).to.include({ place: "KCB 1234", amount: "1000.50", as_of_day: DAY, evidence: "statement 11" });
    const [supply] = await kescJson<Record<string, unknown>[]>(["supply"], place.variables);
    expect(supply).to.include({ organization_name: "acme", in_circulation: "1000.50", reserve: "1000.50" });
    await kesc(["org", "create", "--name", "other"], place.variables);
    const namesOf = async (...args: string[]): Promise<unknown[]> =>
      (await kescJson<Record<string, unknown>[]>(["supply", ...args], place.variables)).map(
        ({ organization_name: name }) => name,
      );
    expect(await namesOf()).to.deep.equal(["acme", "other"]);
    expect(await namesOf("--org", "other")).to.deep.equal(["other"]);
    expect((await kesc(["supply"], place.variables)).stdout).to.match(/1000\.50 +[0-9]+ (days|hours|minutes|seconds) /);
    expect(await findingsAt(place.variables["DATABASE_URL"])).to.deep.equal([]);
    const future = await kesc(
      ["reserve", "record", "acme", "--place", "x", "--as-of", "2126-01-01", "--evidence", "e", "--amount", "1"],
      place.variables,
    );
    expect(future.code).to.not.equal(0);
  });

  it("says that what it printed is not whole, if the book does not foot", async () => {
    const filename = (place.variables["DATABASE_URL"] ?? "").slice("sqlite:".length);
    await unguardedly(
      { address: { engine: "sqlite", filename, masterKeyFile: place.masterKeyFile } as never },
      "UPDATE journal SET amount_cents = 1 WHERE amount_cents = 50",
    );
    const statement = ["export", "statement", "acme", "--account", accountId, ...period()];
    const { code, stdout, stderr } = await kesc(statement, place.variables);
    expect([code, stdout]).to.satisfy(
      ([ended, printed]: [number, string]) => ended === 1 && printed.includes("opening"),
    );
    expect(stderr).to.match(
      /^What was printed is not the whole export\.\nThe export was ended: .* Run: kesc verify\n$/,
    );
  });
});

describe("kesc book accept-clock", () => {
  let place: Place;
  before(async () => {
    place = await Place.migrated();
  });
  after(() => {
    place.remove();
  });

  it("lets a book go on whose newest row a wrong clock has written", async () => {
    const database = await openDatabaseAt(place.databaseUrl);
    const future = toUnixMillis(Date.now() + 7 * 86_400_000);
    await keys(database, () => future).createOrganization("acme");
    await database.close();
    const figure = ["--place", "KCB", "--amount", "1.00", "--as-of", DAY, "--evidence", "statement"];
    const record = ["reserve", "record", "acme", ...figure];
    const makeKey = ["key", "create", "--org", "acme", "--name", "till", "--all-scopes", "--never-expires"];
    const accept = (...more: string[]) => kesc(["book", "accept-clock", "acme", ...more], place.variables);

    for (const args of [record, makeKey]) {
      const { code, stderr } = await kesc(args, place.variables);
      expect(code).to.equal(1);
      expect(stderr).to.match(
        /^The clock of the server is \d+ seconds slow\. Nothing was done\. .* kesc book accept-clock ORG\n$/,
      );
    }
    const asked = await accept();
    expect(asked.code).to.equal(2);
    expect(asked.stderr).to.match(/and this clock says .* To do it, add --yes\./);
    expect((await accept("--yes")).stdout).to.contain(`have the time ${new Date(future).toISOString()} until`);
    for (const args of [record, makeKey]) expect(await kesc(args, place.variables)).to.include({ code: 0 });
    expect(await kesc(["verify"], place.variables)).to.include({ code: 0 });
    expect((await kesc(["doctor"], place.variables)).stdout).to.match(/ok +clock/);
  });

  it("does nothing for a book whose newest row is past", async () => {
    await kesc(["org", "create", "--name", "past"], place.variables);
    const { code, stdout } = await kesc(["book", "accept-clock", "past", "--yes"], place.variables);
    expect(code).to.equal(0);
    expect(stdout).to.contain("which is past. Nothing was done.");
  });
});
