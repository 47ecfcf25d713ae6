import { expect } from "chai";

import { SimulatorClock } from "../../../daraja/clock.js";
import { type Daraja, startDaraja } from "../../../daraja/simulator.js";
import type { TransactionId } from "../../../src/domain/values/ids.js";
import { accountReferenceOf } from "../../../src/rails/mpesa/stk.js";
import { eventually } from "../../support/eventually.js";
import { findingsAt } from "../../support/findings.js";
import { RailOrders } from "../../support/rails/rail-orders.js";
import { type Ended, kesc, Place, RunningKesc, type Variables } from "../../support/service/kesc.js";
import { makeTenants, type Tenant, withKeys } from "../../support/service/tenants.js";
import { setDarajaAccount, withLostCallbacks } from "./daraja-account.js";

const HOUR_MILLIS = 3_600_000;
const CONTACT = "0712345678";

interface Printed {
  readonly agrees: boolean;
  readonly applied: readonly { readonly receipt: string; readonly transaction_id: string; readonly status: string }[];
  readonly breaks: readonly { readonly kind: string; readonly receipt: string; readonly transaction_id: string }[];
}

describe("kesc reconcile mpesa --pull", () => {
  let place: Place;
  let variables: Variables;
  let tenant: Tenant;
  let clock: SimulatorClock;
  let daraja: Daraja;
  beforeEach(async () => {
    place = new Place();
    variables = withLostCallbacks(place);
    [tenant] = await withKeys(place.databaseUrl, makeTenants);
    // The payments are an hour old: those of the last minutes are not compared.
    clock = new SimulatorClock({ standsAtMillis: Date.now() - HOUR_MILLIS });
    daraja = await startDaraja({ clock });
    await setDarajaAccount(daraja, place, { organizationId: tenant.organizationId, variables });
  });
  afterEach(async () => {
    await daraja.close();
    place.remove();
  });

  const pull = (...args: readonly string[]): Promise<Ended> =>
    kesc(["reconcile", "mpesa", "--pull", "--org", tenant.organizationId, ...args], variables);
  const register = (): Promise<Ended> =>
    kesc(["rail", "register-pull", "--rail", "mpesa", "--org", tenant.organizationId, "--contact", CONTACT], variables);
  const deposit = async (accountReference: string): Promise<string> =>
    (await daraja.deposit({ msisdn: "254712345678", amountCents: 100_00, accountReference })).number;
  const paidFor = (id: TransactionId): Promise<string> => deposit(accountReferenceOf(id));

  it("completes once a mint whose push had no answer and whose callback was lost", async () => {
    const serve = new RunningKesc(["serve"], variables);
    const { address } = await serve.ready;
    const call = async (method: string, path: string, body?: object): Promise<Readonly<Record<string, unknown>>> => {
      const headers = { "x-api-key": tenant.key, "content-type": "application/json" };
      const sent = body === undefined ? {} : { body: JSON.stringify(body) };
      return (await (await fetch(`http://${address}${path}`, { method, headers, ...sent })).json()) as never;
    };
    const { id: accountId } = await call("POST", "/accounts", { user_id: "amina", phone_number: "0712345608" });
    const order = { account_id: accountId, amount: 100, reference: "mint-1", rail: "mpesa" };
    const { id } = await call("POST", "/transactions/mint", order);
    const balance = async (): Promise<unknown> =>
      (await call("GET", `/accounts/${String(accountId)}`))["available_balance"];
    await eventually(() => daraja.orders.length === 1, { millisMax: 20_000 });
    await clock.advance(10_000);
    expect(daraja.receipts).to.have.length(1);
    expect(await call("GET", `/transactions/${String(id)}`)).to.include({ status: "processing" });

    expect((await pull()).stderr).to.contain("The account must be registered once: kesc rail register-pull");
    expect((await register()).stdout).to.contain("is registered for kesc reconcile --pull");
    expect(await register(), "a second registration").to.include({ code: 0 });
    const before = await pull();
    expect(before.code).to.equal(1);
    expect(before.stdout)
      .to.contain("missing in ledger  1\n")
      .and.to.contain(`${String(id)} (PROCESSING)`);
    expect(before.stdout).to.contain("went out           not compared: the rail lists only what came in\n");
    expect(await balance()).to.equal(0);

    const applied = await pull("--apply");
    expect(applied, applied.stdout).to.include({ code: 0, stderr: "" });
    const { number: receipt } = daraja.receipts[0] ?? { number: "" };
    expect(applied.stdout).to.contain(`Told the ledger of ${receipt}: ${String(id)} is COMPLETED.\n`);
    const again = await pull("--apply");
    expect(again).to.include({ code: 0 });
    expect(again.stdout).to.contain("matched            1 movements, 100.00 in").and.not.to.contain("Told the ledger");
    const transaction = await call("GET", `/transactions/${String(id)}`);
    expect(transaction).to.include({ status: "completed", rail_receipt: receipt, needs_attention: false });
    expect(await balance()).to.equal(100);
    expect(await serve.end()).to.equal(0);
    expect((await kesc(["verify"], variables)).code).to.equal(0);
  });

  it("tells the ledger what names a mint, and leaves to a person what the book may have already", async () => {
    const made = await RailOrders.in(place.databaseUrl, tenant.organizationId, async (orders) => {
      const account = await orders.account("amina");
      const resolved = await orders.order(account, { flagged: true });
      await orders.moved(resolved, { receipt: "MISTYPED02", amountCents: 9_900 });
      return {
        open: await orders.order(account),
        failed: await orders.order(account, { failed: true }),
        differs: await orders.order(account, { amount: "70.00" }),
        queried: await orders.order(account, { proof: { movement: "ws_1" } }),
        mistyped: await orders.order(account, { proof: { receipt: "MISTYPED01" } }),
        resolved,
        payout: await orders.order(account, { name: "redeem", amount: "100.00" }),
        paidOut: await orders.order(account, { name: "redeem", amount: "20.00", proof: { receipt: "RKTQDM7W02" } }),
      };
    });
    const receipts = {
      open: await paidFor(made.open),
      failed: await paidFor(made.failed),
      differs: await paidFor(made.differs),
      queried: await paidFor(made.queried),
      mistyped: await paidFor(made.mistyped),
      resolved: await paidFor(made.resolved),
      payout: await paidFor(made.payout),
      stranger: await deposit("rent may"),
    };
    await register();
    const { code, stdout, stderr } = await pull("--apply", "--json");
    expect(code, stderr).to.equal(1);
    const printed = JSON.parse(stdout) as Printed;
    const ofReceipt = (receipt: string) => printed.applied.find((each) => each.receipt === receipt);
    expect(printed).to.deep.include({ agrees: false, compared: ["in"], charges: null });
    expect(printed.applied).to.have.length(4);
    expect(ofReceipt(receipts.open)).to.include({ transaction_id: made.open, status: "COMPLETED" });
    expect(ofReceipt(receipts.failed)).to.include({ status: "COMPLETED" });
    expect(ofReceipt(receipts.failed)?.transaction_id, "a correction").not.to.equal(made.failed);
    expect(ofReceipt(receipts.differs)).to.deep.include({ status: "PROCESSING", open_flags: ["REPORT_DIFFERS"] });
    expect(ofReceipt(receipts.queried)).to.include({ transaction_id: made.queried, status: "COMPLETED" });
    const breaks = (given: Printed) => given.breaks.map(({ kind, receipt }) => `${kind} ${receipt}`);
    const left = [receipts.differs, receipts.mistyped, receipts.resolved, receipts.payout, receipts.stranger];
    expect(breaks(printed)).to.have.members(left.map((receipt) => `missing_in_ledger ${receipt}`));

    const again = JSON.parse((await pull("--apply", "--json")).stdout) as Printed;
    expect(again.applied.map(({ receipt }) => receipt)).to.deep.equal([receipts.differs]);
    expect(breaks(again)).to.deep.equal(breaks(printed));
    // Those that name an order may be in the book under a mistyped receipt: a person decides.
    const night = await pull("--record");
    const named = [receipts.differs, receipts.mistyped, receipts.resolved];
    for (const receipt of named) expect(night.stdout).to.match(new RegExp(`^ {2}${receipt} .* names an order$`, "m"));
    for (const receipt of [receipts.payout, receipts.stranger])
      expect(night.stdout).to.match(new RegExp(`^ {2}${receipt} .* waits: unknown reference$`, "m"));
    expect(night.stdout).to.contain("This would record 2 of together 200.00 KES").and.contain("3 rows are in no act");
    const recorded = await pull("--record", "--note", "no news", "--yes");
    expect(recorded.stdout, recorded.stderr).to.match(/^Proposed as prp_\w+\. It records all rows/);
    expect(await findingsAt(variables["DATABASE_URL"])).to.deep.equal([]);
  });

  it("lists and books nothing if M-Pesa cannot be asked, and says which options belong together", async () => {
    expect((await kesc(["reconcile", "mpesa", "--org", tenant.organizationId], variables)).stderr).to.contain(
      "Name the file of a statement, or ask the rail with --pull.",
    );
    expect(await pull("--from", "2026-11-22T00:00:00Z")).to.include({ code: 2, stdout: "" });
    const withFile = ["reconcile", "mpesa", "x.csv", "--org", tenant.organizationId, "--hours", "2"];
    expect((await kesc(withFile, variables)).stderr).to.contain("--hours is for --pull only.");
    expect((await pull("--charge-max", "5.00")).stderr).to.contain("--charge-max is for a file with --apply only.");
    expect((await pull("--hours", "49")).stderr).to.contain("whole number from 1 to 48");
    await daraja.goOffline();
    expect(await pull("--apply")).to.include({ code: 1, stdout: "" });
    const [, other] = await withKeys(place.databaseUrl, makeTenants);
    const noAccount = await kesc(["reconcile", "mpesa", "--pull", "--org", other.organizationId], variables);
    expect(noAccount.stderr).to.contain("has no account at the rail mpesa");
    const noCallbacks = { ...place.variables };
    const args = ["rail", "register-pull", "--rail", "mpesa", "--org", tenant.organizationId, "--contact", CONTACT];
    expect((await kesc(args, noCallbacks)).stderr).to.contain(
      "set KESC_CALLBACK_BASE_URL and KESC_CALLBACK_SECRET_FILE",
    );
  });
});
