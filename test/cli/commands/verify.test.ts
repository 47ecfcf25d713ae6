import { once } from "node:events";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { getPriority } from "node:os";
import { join } from "node:path";

import { expect } from "chai";

import type { DatabaseAddress } from "../../../src/storage/database.js";
import { NOT_COVERED } from "../../../src/verify/coverage.js";
import { execute } from "../../support/databases.js";
import { TEST_MASTER_KEY_FILE } from "../../support/master-key.js";
import { type Ended, kesc, Place, RunningKesc } from "../../support/service/kesc.js";
import { makeTenants, type Tenant, withKeys } from "../../support/service/tenants.js";

interface Covered {
  readonly acts_without_person: { readonly count: number; readonly newest: object };
}

describe("kesc verify", () => {
  let place: Place;
  let variables: Place["variables"];
  let address: DatabaseAddress;
  let tenants: readonly [Tenant, Tenant];
  beforeEach(async () => {
    place = new Place();
    variables = { ...place.variables, KESC_MASTER_KEY_FILE: TEST_MASTER_KEY_FILE };
    address = { engine: "sqlite", filename: place.databaseFile, masterKeyFile: TEST_MASTER_KEY_FILE };
    tenants = await withKeys(place.databaseUrl, makeTenants);
  });
  afterEach(() => {
    place.remove();
  });

  const verify = (...args: readonly string[]): Promise<Ended> => kesc(["verify", ...args], variables);

  it("counts what it covers, and says at the end what it does not cover", async () => {
    const [{ code, stdout }, json] = await Promise.all([verify(), verify("--json")]);
    expect(code).to.equal(0);
    expect(stdout).to.match(/^The books are correct: 4 journal rows, 0 accounts, .*\nCovered: [^\n]+\.\n$/);
    for (const { organizationId } of tenants) expect(stdout).to.contain(`${organizationId} up to seq 2`);
    expect(stdout).to.contain(` Not covered: ${String(Object.keys(NOT_COVERED).length)} columns`);
    const { coverage, ...verdict } = JSON.parse(json.stdout) as Record<string, Record<string, unknown>>;
    expect(verdict).to.deep.equal({ holds: true, first_broken_seq: null, findings_count: 0, first_findings: [] });
    expect(coverage).to.deep.include({ organizations: 2, journal_rows: 4, api_keys: 2, reserve: "0.00" });
    expect(coverage).to.deep.include({ erased_holders: 0, not_covered: NOT_COVERED });
    expect(coverage?.["heads"]).to.have.length(2);
  });

  it("says how many acts since the first operator name no person, and which is the newest", async () => {
    const onDatabase = ["--on-database", "--note", "a drill"];
    expect((await kesc(["operator", "create", "Ann", "--role", "admin"], variables)).code).to.equal(0);
    expect((await verify()).stdout).not.to.contain("no person");
    const [{ organizationId }] = tenants;
    const suspend = ["org", "suspend", organizationId, "--yes", ...onDatabase];
    expect((await kesc(suspend, variables)).code).to.equal(0);
    const [{ code, stdout }, json] = await Promise.all([verify(), verify("--json")]);
    expect(code).to.equal(0);
    const place = `${organizationId}, seq 3, organization.suspended`;
    expect(stdout).to.match(
      new RegExp(`\n1 act since the first operator names no person: .* The newest: ${place}, at 20\\S+Z\\.\n`),
    );
    const { coverage } = JSON.parse(json.stdout) as { coverage: Covered };
    const { count, newest } = coverage.acts_without_person;
    expect(count).to.equal(1);
    expect(newest).to.include({ organization_id: organizationId, seq: 3, kind: "organization.suspended" });
  });

  it("says the same at full speed", async () => {
    const [slow, fast] = await Promise.all([verify(), verify("--full-speed")]);
    expect(fast).to.deep.equal(slow);
    expect(fast.code).to.equal(0);
  });

  it("names the first broken seq and exits with 1", async () => {
    const [{ organizationId }] = tenants;
    await execute(address, "UPDATE books SET reserve_cents = 5, available_cents = 5, last_seq = 5 WHERE number = 1");
    const [{ code, stdout }, json] = await Promise.all([verify(), verify("--json")]);
    expect(code).to.equal(1);
    const where = `${organizationId}, seq 2, books, ${organizationId}`;
    expect(stdout).to.contain(`First error: seq 2.\n  ${where}: expected `);
    expect(stdout).to.contain(`  ${where}: expected last_seq 2; found last_seq 5\n`);
    expect(stdout).to.contain(`  ${where}: expected reserve 0.00`);
    expect(json.code).to.equal(1);
    const verdict = JSON.parse(json.stdout) as { first_findings: readonly { readonly found: string }[] };
    expect(verdict).to.deep.include({ holds: false, first_broken_seq: 2, findings_count: 3 });
    expect(verdict.first_findings.find(({ found }) => found === "last_seq 5")).to.deep.equal({
      organization_id: organizationId,
      seq: 2,
      table: "books",
      id: organizationId,
      expected: "last_seq 2",
      found: "last_seq 5",
    });
  });

  it("prints no control characters of a changed value", async () => {
    await execute(address, "PRAGMA ignore_check_constraints = ON", "UPDATE books SET state = char(27) || '[2J'");
    const { code, stdout } = await verify();
    expect(code).to.equal(1);
    expect(stdout).to.contain("expected a known state; found \uFFFD[2J");
  });

  it("notes the heads, and finds later that a book is shorter", async () => {
    const heads = join(place.folder, "heads");
    expect(await verify("--write-heads", heads)).to.include({ code: 0 });
    const lines = readFileSync(heads, "utf8");
    expect(lines).to.match(/^(org_[0-9a-z]{26} 2 [0-9a-f]{64}\n){2}$/);
    const again = await verify("--heads", heads, "--write-heads", heads);
    expect(again.stdout).to.contain("2 of 2 books compared with noted heads");
    expect(readFileSync(heads, "utf8")).to.equal(lines);

    writeFileSync(heads, lines.replace(" 2 ", " 57 "));
    const [first = ""] = lines.split(" ");
    const { code, stdout, stderr } = await verify("--heads", heads, "--write-heads", heads);
    expect(code).to.equal(1);
    expect(stdout).to.contain(`First error: seq 57.\n  ${first}, seq 57, journal, ${first}: expected the row`);
    expect(stdout).to.contain("found the book ends at seq 2");
    expect(stderr).to.contain(`The heads file ${heads} was not written.`);
    expect(readFileSync(heads, "utf8")).to.contain(" 57 ");
    expect(readdirSync(place.folder).filter((name) => name.startsWith("heads"))).to.deep.equal(["heads"]);
  });

  it("finds that a book has another row, or is lost", async () => {
    const heads = join(place.folder, "heads");
    const [first, second] = tenants.map(({ organizationId }) => organizationId);
    writeFileSync(heads, `${first ?? ""} 1 ${"0".repeat(64)}\norg_01jd2r6p5vf8ksw3xhb1z7q4ye 3 ${"1".repeat(64)}\n`);
    const { code, stdout } = await verify("--heads", heads);
    expect(code).to.equal(1);
    expect(stdout).to.match(/heads file knows, with content_hash 0{64}; found content_hash [0-9a-f]{64}\n/);
    expect(stdout).to.contain(
      "seq 3, books, org_01jd2r6p5vf8ksw3xhb1z7q4ye: expected the book that the heads file knows",
    );
    expect(stdout)
      .to.contain("1 of 2 books compared")
      .and.not.to.contain(`${second ?? ""}, seq`);
  });

  it("refuses a heads file that it cannot use, and names the line", async () => {
    const heads = join(place.folder, "heads");
    const line = `${tenants[0].organizationId} 1 ${"0".repeat(64)}\n`;
    const texts: readonly (readonly [text: string | undefined, problem: RegExp])[] = [
      [undefined, /it does not exist/],
      [`${line}${line}`, /line 2 names org_\S+ again/],
      [`${line}${tenants[1].organizationId} 0 ${"0".repeat(64)}\n`, /line 2 is not an organization id, a seq and/],
      [line.replace(" 1 ", "  1 "), /line 1 is not/],
      [line.replace("org_", "acc_"), /line 1 is not/],
      [line.slice(0, -2), /line 1 has no end/],
    ];
    for (const [text, problem] of texts) {
      if (text !== undefined) writeFileSync(heads, text);
      const { code, stdout, stderr } = await verify("--heads", heads);
      expect({ code, stdout }).to.deep.equal({ code: 3, stdout: "" });
      expect(stderr).to.match(problem).and.to.contain(`The heads file ${heads} cannot be used`);
    }
    const { code, stderr } = await verify("--write-heads", join(place.folder, "missing", "heads"));
    expect(code).to.equal(3);
    expect(stderr).to.match(/cannot be written: ENOENT/);
  });

  it("opens the database before it lowers its priority, and exits with 3 if it cannot look", async () => {
    const database = createServer().listen(0, "127.0.0.1");
    await once(database, "listening");
    const { port } = database.address() as AddressInfo;
    const DATABASE_URL = `postgres://nobody@127.0.0.1:${String(port)}/none`;
    const running = new RunningKesc(["verify"], { ...variables, DATABASE_URL });
    const priorities: number[] = [];
    database.on("connection", (socket) => {
      priorities.push(getPriority(running.pid));
      socket.destroy();
    });
    expect(await running.exited).to.equal(3);
    expect(running.stderr).to.contain(`The database none at 127.0.0.1:${String(port)} cannot be opened`);
    expect(priorities).to.deep.equal([getPriority()]);
    database.close();
  });

  it("exits with 3 if there is no database, and with 1 if its file is damaged", async () => {
    const missing = { ...variables, DATABASE_URL: `${place.databaseUrl}.none` };
    expect(await kesc(["verify"], missing)).to.include({ code: 3 });
    writeFileSync(place.databaseFile, "SQLite format 3, they say");
    expect(await verify()).to.include({ code: 1 });
  });
});
