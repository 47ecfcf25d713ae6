import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect } from "chai";

import { startDaraja } from "../../../daraja/simulator.js";
import type { RailAccountId } from "../../../src/domain/payment.js";
import type { AccountId, TransactionId } from "../../../src/domain/values/ids.js";
import { accountReferenceOf } from "../../../src/rails/mpesa/stk.js";
import type { DatabaseAddress } from "../../../src/storage/database.js";
import { execute } from "../../support/databases.js";
import { findingsAt } from "../../support/findings.js";
import { RailOrders } from "../../support/rails/rail-orders.js";
import { type Ended, kesc, Place } from "../../support/service/kesc.js";
import { makeTenants, type Tenant, withKeys } from "../../support/service/tenants.js";
import { setDarajaAccount, withLostCallbacks } from "./daraja-account.js";

const HEADER = "Receipt No.,Completion Time,Details,Transaction Status,Paid In,Withdrawn,Other Party Info,A/C No.";
const HOUR_MILLIS = 3_600_000;

/** What the statement of the document's cases has: in is positive. */
const STATEMENT: Readonly<Record<string, number>> = {
  RKTQDM7W01: 100,
  RKTQDM7W02: 90,
  RKTQDM7W03: 100,
  RKTQDM7W04: -40,
  RKTQDM7W05: -40,
  RKTQDM7W06: -30,
  RKTQDM7W07: 20,
  RKTQDM7W08: -500,
  RKTQDM7W09: 90,
  RKTQDM7W11: 100,
  RKTQDM7W12: 100,
  RKTQDM7W13: 500,
  RKTQDM7W14: 70,
};

/** The commands of each case, by its heading: the third level is for cases. */
function casesIn(document: string): ReadonlyMap<string, readonly string[]> {
  const parts = readFileSync(document, "utf8").split(/^## /m);
  const sections = parts.flatMap((part) => part.split(/^### /m).slice(1));
  return new Map(
    sections.map((section) => [
      section.slice(0, section.indexOf("\n")),
      [...section.matchAll(/^kesc (.*)$/gm)].map(([, command = ""]) => command),
    ]),
  );
}

const CASES = casesIn("docs/books.md");

describe("the cases of docs/books.md", () => {
  let place: Place;
  let variables: Place["variables"];
  let address: DatabaseAddress;
  let tenant: Tenant;
  let account: AccountId;
  let railAccountId: RailAccountId;
  before(async () => {
    place = new Place();
    variables = withLostCallbacks(place);
    address = { engine: "sqlite", filename: place.databaseFile, masterKeyFile: place.masterKeyFile };
    [tenant] = await withKeys(place.databaseUrl, makeTenants);
    account = await orders((each) => each.account("amina"));
    const daraja = await startDaraja();
    await daraja.close();
    const alone = ["--resolve-alone-max", "1000.00"];
    await setDarajaAccount(daraja, place, { organizationId: tenant.organizationId, variables, more: alone });
    const [row] = await execute<{ id: RailAccountId }>(address, "SELECT id FROM rail_accounts");
    railAccountId = row?.id ?? ("" as RailAccountId);
  });
  after(() => {
    place.remove();
  });

  function orders<Result>(work: (orders: RailOrders) => Promise<Result>): Promise<Result> {
    return RailOrders.in(place.databaseUrl, tenant.organizationId, work);
  }

  /** `references` has the account numbers of some rows. */
  async function reconcile(
    statement: Readonly<Record<string, number>>,
    { references = {}, args = [] }: { references?: Readonly<Record<string, string>>; args?: readonly string[] } = {},
  ): Promise<Ended> {
    const file = join(place.folder, "statement.csv");
    const at = new Date(Date.now() + 3 * HOUR_MILLIS).toISOString().slice(0, 19).replace("T", " ");
    const lines = Object.entries(statement).map(([receipt, amount]) => {
      const [paidIn, withdrawn] = amount > 0 ? [String(amount), ""] : ["", String(amount)];
      return [receipt, at, "Pay Bill", "Completed", paidIn, withdrawn, "254708***149", references[receipt] ?? ""].join(
        ",",
      );
    });
    writeFileSync(file, [HEADER, ...lines].join("\n"));
    const hour = (offset: number): string => new Date(Date.now() + offset * HOUR_MILLIS).toISOString();
    const period = ["--from", hour(-1), "--to", hour(1)];
    return kesc(["reconcile", "mpesa", file, "--org", tenant.organizationId, ...period, ...args], variables);
  }

  /** Pastes a command, which one person may do alone. */
  async function paste(command: string, id: string): Promise<void> {
    const words = (command.match(/"[^"]*"|\S+/g) ?? []).map((word) => word.replace(/^"|"$/g, ""));
    const named = words.map(
      (word) => ({ "org_…": tenant.organizationId, "acc_…": account, "txn_…": id })[word] ?? word,
    );
    const { code, stdout, stderr } = await kesc(named, variables);
    expect({ code, stderr }, command).to.deep.equal({ code: 0, stderr: "" });
    expect(stdout).not.to.match(/^Proposed/);
  }

  /** Makes what each case is about. Returns the id of its transaction. */
  const given: Readonly<Record<string, () => Promise<TransactionId | undefined>>> = {
    "A PROCESSING transaction was carried out": () => orders((each) => each.order(account, { railAccountId })),
    "A PROCESSING transaction moved another amount": () =>
      orders((each) => each.order(account, { railAccountId, flagged: true })),
    "A PROCESSING transaction moved nothing": () =>
      orders((each) => each.order(account, { railAccountId, name: "redeem", amount: "7.00", flagged: true })),
    "Shillings came in for nobody": () => Promise.resolve(undefined),
    "Shillings went out without an order": () => Promise.resolve(undefined),
    "The book shows a shortfall": () => Promise.resolve(undefined),
    "Shillings went to the bank": () => Promise.resolve(undefined),
    "The organization paid for charges": () => Promise.resolve(undefined),
    "A completed transaction has another amount": () =>
      orders((each) => each.order(account, { proof: { receipt: "RKTQDM7W09" } })),
    "The book has a receipt that does not exist": () =>
      orders((each) => each.order(account, { proof: { receipt: "RKTQDM7W10" } })),
    "A flag is up on a transaction that has ended": () =>
      orders(async (each) => {
        const id = await each.order(account, { proof: { receipt: "RKTQDM7W12" } });
        await each.flag(id, "REPORT_DIFFERS");
        return id;
      }),
  };

  it("are those of this test", () => {
    expect([...CASES.keys()]).to.deep.equal(Object.keys(given));
  });

  for (const [title, commands] of CASES) {
    it(`${title}: its commands are accepted`, async () => {
      const id = (await given[title]?.()) ?? "";
      expect(commands).to.have.length.at.least(1);
      for (const command of commands) await paste(command, id);
    });
  }

  it("leave nothing that differs, nothing flagged, and books that are right", async () => {
    const { code, stdout, stderr } = await reconcile(STATEMENT);
    expect(stderr).to.equal("");
    expect(stdout).to.contain("All movements of this period agree.").and.to.contain("matched            13 movements");
    expect(code).to.equal(0);
    expect(await execute(address, "SELECT id FROM transactions WHERE open_flags IS NOT NULL")).to.deep.equal([]);
    const sums = "SELECT unallocated_cents AS unallocated, shortfall_cents AS shortfall FROM books";
    expect((await execute(address, sums))[0]).to.deep.equal({ unallocated: 0, shortfall: 0 });
    expect(await findingsAt(variables["DATABASE_URL"])).to.deep.equal([]);
  });

  it("are mended by what reconcile itself prints", async () => {
    const open = await orders((each) => each.order(account, { railAccountId }));
    await orders(async (each) => {
      await each.order(account, { proof: { receipt: "RKTQDM7X02" } });
      await each.order(account, { proof: { receipt: "RKTQDM7X03" } });
      await each.order(account, { name: "redeem", amount: "50.00", proof: { receipt: "RKTQDM7X04" } });
    });
    const found = { RKTQDM7X01: 100, RKTQDM7X02: 150, RKTQDM7X04: -20, RKTQDM7X05: -30, RKTQDM7X06: 5 };
    const statement = { ...STATEMENT, ...found };
    const references = { RKTQDM7X01: accountReferenceOf(open) };
    const first = await reconcile(statement, { references, args: ["--json"] });
    const { breaks } = JSON.parse(first.stdout) as { breaks: readonly { advice: string }[] };
    expect([first.code, breaks.length]).to.deep.equal([1, 6]);
    for (const { advice } of breaks) {
      const [, command = ""] = /kesc (.*? --yes)/.exec(advice) ?? [];
      await paste(command, open);
    }
    expect((await reconcile(statement, { references })).code).to.equal(0);
    expect(await findingsAt(variables["DATABASE_URL"])).to.deep.equal([]);
  });
});
