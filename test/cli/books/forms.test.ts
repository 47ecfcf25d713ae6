import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect } from "chai";
import readXlsxFile from "read-excel-file/universal";

import type { Command } from "../../../src/domain/operations.js";
import { parseDescription } from "../../../src/domain/values/text.js";
import { toUnixMillis } from "../../../src/domain/values/time.js";
import { keys } from "../../../src/storage/keys.js";
import { openDatabaseAt } from "../../support/databases.js";
import { SLOW_RAIL, valid } from "../../support/names.js";
import { createAccount } from "../../support/operations/accounts.js";
import { mint, redeem } from "../../support/operations/transactions.js";
import { kesc, kescJson, Place } from "../../support/service/kesc.js";

const DAY_MILLIS = 86_400_000;
/** Texts that programs of accounting read as something else. */
const REFERENCES = ["=A1", "0012", "1e5", '"\\" ; {@}', "[2026-13-45]", "[=2026/01/01]", "date:2026-01-01, a:b", "!x"];
/** Adds up the postings: bean-query 2.3.5 ends with an error at a balance of a billion. */
const ADD_UP = `
import sys
from beancount import loader
entries, errors, _ = loader.load_file(sys.argv[1])
sums = {}
for entry in entries:
    for posting in getattr(entry, "postings", None) or []:
        sums[posting.account] = sums.get(posting.account, 0) + posting.units.number
for error in errors:
    print(error, file=sys.stderr)
print("\\n".join(f"{account} {amount:.2f}" for account, amount in sorted(sums.items())))
sys.exit(1 if errors else 0)
`;
/** The programs, and the command that prints each account of a file with its balance. */
const PROGRAMS = {
  hledger: {
    form: "hledger",
    command: ["hledger", "balance", "--flat", "-E", "-N", "--format", "%(account) %(total)", "-f"],
  },
  ledger: {
    form: "hledger",
    command: ["ledger", "balance", "--flat", "-E", "--no-total", "--format", "%(account) %(display_total)\n", "-f"],
  },
  beancount: { form: "beancount", command: ["/usr/bin/python3", "-c", ADD_UP] },
} as const;
const PRESENT = {
  hledger: ["hledger", "--version"],
  ledger: ["ledger", "--version"],
  beancount: ["bean-check", "--help"],
};

describe("the forms of the trade", () => {
  let place: Place;
  const period = [
    "--from",
    new Date(Date.now() - 4 * DAY_MILLIS).toISOString(),
    "--to",
    new Date(Date.now() - 120_000).toISOString(),
  ];

  before(async () => {
    place = await Place.migrated();
    const database = await openDatabaseAt(place.variables["DATABASE_URL"] ?? "");
    const at = (days: number) => toUnixMillis(Date.now() - days * DAY_MILLIS);
    const { id: organizationId } = await keys(database, () => at(6)).createOrganization("acme");
    const amina = createAccount(organizationId, "0012");
    const common = { organizationId, accountId: amina.newAccountId };
    const odd = REFERENCES.map((reference, index) =>
      mint({
        ...common,
        amount: "0.01",
        reference,
        description: valid(parseDescription(reference)),
        receipt: `kcb-1:${String(index)}`,
      }),
    );
    const commit = async (days: number, ...commands: Command[]) => {
      const results = await database.cells[0].committer.commit(commands, at(days));
      expect(results.map(({ kind }) => kind)).to.deep.equal(commands.map(() => "done"));
    };
    // The first mint is before the period: the file begins with its balances.
    await commit(5, amina, mint({ ...common, amount: "10000000000.00", reference: "much" }));
    await commit(3, ...odd);
    await commit(3, redeem({ ...common, amount: "9999999999.99", reference: "out" }));
    await commit(2, redeem({ ...common, amount: "0.02", reference: "held", rail: SLOW_RAIL }));
    await database.close();
  });
  after(() => {
    place.remove();
  });

  /** The balances of the book, as these programs name and sign them. */
  async function expected(): Promise<readonly string[]> {
    const [supply = {}] = await kescJson<Record<string, string>[]>(["supply"], place.variables);
    const signed = (name: string): string => (/[1-9]/.test(supply[name] ?? "") ? `-${supply[name] ?? ""}` : "0.00");
    return [
      `Assets:Charges ${supply["charges"] ?? ""}`,
      `Assets:Reserve ${supply["reserve"] ?? ""}`,
      `Assets:Shortfall ${supply["shortfall"] ?? ""}`,
      ...["available", "held", "unallocated"].map(
        (name) => `Liabilities:${name[0]?.toUpperCase() ?? ""}${name.slice(1)} ${signed(name)}`,
      ),
    ];
  }

  async function exported(form: string, name: string): Promise<string> {
    const file = join(place.folder, name);
    const { code, stderr } = await kesc(
      ["export", "ledger", "acme", ...period, "--format", form, "--output", file],
      place.variables,
    );
    expect(code, stderr).to.equal(0);
    return file;
  }

  for (const [name, { form, command }] of Object.entries(PROGRAMS)) {
    it(`have the balances of the book in ${name}, which finds one cent too many`, async function () {
      const [program = "", option = ""] = PRESENT[name as keyof typeof PRESENT];
      if (spawnSync(program, [option]).error !== undefined) this.skip();
      const file = await exported(form, `${name}.txt`);
      const [first, ...rest] = command;
      const run = (path: string) => spawnSync(first, [...rest, path], { encoding: "utf8" });
      const { status, stdout, stderr } = run(file);
      expect(status, stderr).to.equal(0);
      const lines = stdout
        .trim()
        .split("\n")
        .map((line) => line.trim().replace(/ KES$/, "").replace(/ 0$/, " 0.00"));
      expect(lines.sort()).to.deep.equal(await expected());
      const changed = join(place.folder, `${name}-changed.txt`);
      const text = readFileSync(file, "utf8");
      writeFileSync(
        changed,
        text.replace(/(Assets:Reserve {2})0\.01 KES(\n +Liabilities:Available {2})-0\.01/, "$10.02 KES$2-0.02"),
      );
      expect(readFileSync(changed, "utf8")).not.to.equal(text);
      expect(run(changed).status).not.to.equal(0);
    });
  }

  it("are a workbook whose amounts are numbers, whose days are dates, and whose texts stay texts", async () => {
    const bytes = readFileSync(await exported("xlsx", "ledger.xlsx"));
    const [sheet] = await readXlsxFile(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength));
    const [names = [], ...rows] = sheet?.data ?? [];
    const cell = (row: readonly unknown[] | undefined, name: string) => row?.[names.indexOf(name)];
    const mints = rows.filter((row) => cell(row, "kind") === "mint" && cell(row, "book_account") === "reserve");
    expect(mints.map((row) => cell(row, "reference"))).to.deep.equal(REFERENCES);
    expect(mints.map((row) => cell(row, "debit"))).to.deep.equal(REFERENCES.map(() => 0.01));
    expect(cell(mints[0], "user_id")).to.equal("0012");
    expect(cell(mints[0], "date")).to.be.an.instanceOf(Date);
    const [opening] = rows.filter((row) => cell(row, "type") === "opening" && cell(row, "book_account") === "reserve");
    expect(cell(opening, "balance")).to.equal(10_000_000_000);
  });

  it("refuse a workbook without a file, and books without their beginning", async () => {
    const run = (...args: string[]) => kesc(["export", "ledger", "acme", ...period, ...args], place.variables);
    expect((await run("--format", "xlsx")).stderr).to.equal("--format xlsx writes a file: name it with --output.\n");
    const { code, stderr } = await run("--format", "beancount", "--postings-only");
    expect([code, stderr]).to.deep.equal([
      2,
      "--format beancount needs the opening balances: leave out --postings-only.\n",
    ]);
    const journal = await kesc(["export", "journal", "acme", ...period, "--format", "hledger"], place.variables);
    expect(journal.code).to.equal(2);
  });
});
