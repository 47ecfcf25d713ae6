import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect } from "chai";

import type { TransactionId } from "../../../src/domain/values/ids.js";
import { accountReferenceOf } from "../../../src/rails/mpesa/stk.js";
import { TEST_MASTER_KEY_FILE } from "../../support/master-key.js";
import { rejectProposal } from "../../support/operations/book.js";
import { correctBook } from "../../support/operations/corrections.js";
import { mint } from "../../support/operations/transactions.js";
import { RailOrders } from "../../support/rails/rail-orders.js";
import { type Ended, kesc, Place } from "../../support/service/kesc.js";
import { makeTenants, type Tenant, withKeys } from "../../support/service/tenants.js";

const HEADER = "Receipt No.,Completion Time,Details,Transaction Status,Paid In,Withdrawn,Other Party Info,A/C No.";
const PREAMBLE = ["Organization Name,ACME LTD,,,,,,", "Short Code,600996,,,,,,", ""];
const HOUR_MILLIS = 3_600_000;

interface Line {
  readonly receipt: string;
  readonly paidIn?: string;
  readonly withdrawn?: string;
  readonly details?: string;
  readonly status?: string;
  readonly account?: string;
}

/** The time of the rows: now, in Nairobi. */
function nairobi(): string {
  return new Date(Date.now() + 3 * HOUR_MILLIS).toISOString().slice(0, 19).replace("T", " ");
}

function csv({
  receipt,
  paidIn = "",
  withdrawn = "",
  details = "Pay Bill",
  status = "Completed",
  account = "",
}: Line): string {
  return [receipt, nairobi(), details, status, `"${paidIn}"`, withdrawn, "254708***149", account].join(",");
}

describe("kesc reconcile mpesa", () => {
  let place: Place;
  let variables: Place["variables"];
  let tenant: Tenant;
  beforeEach(async () => {
    place = new Place();
    variables = { ...place.variables, KESC_MASTER_KEY_FILE: TEST_MASTER_KEY_FILE };
    [tenant] = await withKeys(place.databaseUrl, makeTenants);
  });
  afterEach(() => {
    place.remove();
  });

  const hour = (offset: number): string => new Date(Date.now() + offset * HOUR_MILLIS).toISOString();

  function reconcile(lines: readonly string[], ...args: readonly string[]): Promise<Ended> {
    const file = join(place.folder, "statement.csv");
    writeFileSync(file, [...PREAMBLE, HEADER, ...lines].join("\r\n"));
    return kesc(["reconcile", "mpesa", file, "--org", tenant.organizationId, ...args], variables);
  }

  const period = (): readonly string[] => ["--from", hour(-1), "--to", hour(1)];

  it("agrees where each movement stands on both sides, and says for which time", async () => {
    const [out] = await RailOrders.in(place.databaseUrl, tenant.organizationId, async (orders) => {
      const account = await orders.account("amina");
      await orders.order(account, { amount: "1500.00", proof: { movement: "ws_1", receipt: "RKTQDM7W01" } });
      const paid = await orders.order(account, { name: "redeem", amount: "300.00", proof: { receipt: "RKTQDM7W02" } });
      await orders.order(account, { failed: true });
      await orders.order(account, { rail: "sandbox", proof: { receipt: "SANDBOX001" } });
      return [paid];
    });
    const lines = [
      csv({ receipt: "RKTQDM7W01", paidIn: "1,500.00" }),
      csv({
        receipt: "RKTQDM7W02",
        withdrawn: "-300.00",
        details: `Business Payment. Original conversation ID is ${out}.`,
      }),
      csv({ receipt: "RKTQDM7W02", withdrawn: "-22.40", details: "Business Payment Charge" }),
      csv({ receipt: "RKTQDM7W03", paidIn: "7.00", status: "Declined" }),
    ];
    const first = await reconcile(lines, ...period());
    expect(first.code).to.equal(1);
    expect(first.stdout).to.contain("charges            1 movements, 0.00 in, 22.40 out: 0 in the book\n");
    expect(first.stdout).to.contain("missing in ledger: charge:RKTQDM7W02, on the rail 22.40 out");
    expect((await reconcile(lines, ...period(), "--apply", "--charge-max", "22.39")).code).to.equal(1);
    const { code, stdout, stderr } = await reconcile(lines, ...period(), "--apply");
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: "" });
    expect(stdout).to.contain("Booked 1 charges.\n");
    expect((await reconcile(lines, ...period(), "--apply")).stdout).not.to.contain("Booked");
    expect(stdout).to.contain("matched            2 movements, 1500.00 in, 300.00 out\n");
    expect(stdout)
      .to.contain("charges            1 movements, 0.00 in, 22.40 out: 1 in the book\n")
      .and.to.contain("not completed      1:");
    expect(stdout).to.contain("All movements of this period agree. That says nothing about other times");
  });

  it("compares what callers have attested with a receipt of the rail, and with no other", async () => {
    await RailOrders.in(place.databaseUrl, tenant.organizationId, async (orders) => {
      const accountId = await orders.account("amina");
      const { organizationId } = tenant;
      for (const [receipt, amount] of [
        ["RKTQDM7W01", "100.00"],
        ["RKTQDM7W02", "7.00"],
        ["kcb-1234:RKTQDM7W03", "3.00"],
        [undefined, "1.00"],
      ] as const) {
        const given = receipt === undefined ? {} : { receipt };
        await orders.commit(mint({ organizationId, accountId, amount, reference: amount, ...given }));
      }
    });
    const lines = [csv({ receipt: "RKTQDM7W01", paidIn: "100.00" }), csv({ receipt: "RKTQDM7W03", paidIn: "3.00" })];
    const { code, stdout } = await reconcile(lines, ...period());
    expect(code).to.equal(1);
    expect(stdout).to.contain("matched            1 movements, 100.00 in, 0.00 out\n");
    expect(stdout).to.contain("missing in ledger  1\n").and.to.contain("missing on rail    1\n");
  });

  it("finds each difference, and says what to do", async () => {
    const made = await RailOrders.in(place.databaseUrl, tenant.organizationId, async (orders) => {
      const account = await orders.account("amina");
      return {
        account,
        differs: await orders.order(account, { proof: { receipt: "RKTQDM7W01" } }),
        unpaid: await orders.order(account, { proof: { receipt: "RKTQDM7W02" } }),
        open: await orders.order(account, { flagged: true }),
        failed: await orders.order(account, { failed: true }),
        queried: await orders.order(account, { proof: { movement: "ws_2" } }),
      };
    });
    const by = (id: TransactionId): { account: string } => ({ account: accountReferenceOf(id) });
    const lines = [
      csv({ receipt: "RKTQDM7W01", paidIn: "99.00" }),
      csv({ receipt: "RKTQDM7W03", paidIn: "100.00", ...by(made.open) }),
      csv({ receipt: "RKTQDM7W04", paidIn: "100.00", ...by(made.failed) }),
      csv({ receipt: "RKTQDM7W05", paidIn: "5.00", account: "rent may" }),
      csv({ receipt: "RKTQDM7W06", paidIn: "100.00", ...by(made.queried) }),
      csv({ receipt: "RKTQDM7W06", paidIn: "100.00", ...by(made.queried) }),
    ];
    const { code, stdout } = await reconcile(lines, ...period());
    expect(code).to.equal(1);
    expect(stdout).to.contain("missing in ledger  3\n").and.to.contain("missing on rail    1\n");
    expect(stdout).to.contain("amount differs     1\n").and.to.contain("double             1\n");
    expect(stdout).to.contain(`kesc transaction resolve ${made.open} --outcome completed --receipt RKTQDM7W03`);
    expect(stdout).to.contain("kesc deposit record --amount 100.00 --receipt RKTQDM7W04");
    expect(stdout).to.contain(`${made.failed} (FAILED)`).and.to.contain(`with --account ${made.account} to credit it`);
    expect(stdout).to.match(/\nNo tie: the rail has not reported a balance yet\./);

    const json = JSON.parse((await reconcile(lines, "--json", ...period())).stdout) as Record<string, unknown>;
    expect(json).to.deep.include({ agrees: false, matched: { count: 1, in: "100.00", out: "0.00" } });
    const kinds = (json["breaks"] as { kind: string; receipt: string; transaction_id: string | null }[]).map(
      ({ kind, receipt, transaction_id: id }) => [kind, receipt, id],
    );
    expect(kinds).to.deep.equal([
      ["amount_differs", "RKTQDM7W01", made.differs],
      ["missing_in_ledger", "RKTQDM7W03", made.open],
      ["missing_in_ledger", "RKTQDM7W04", made.failed],
      ["missing_in_ledger", "RKTQDM7W05", null],
      ["double", "RKTQDM7W06", made.queried],
      ["missing_on_rail", "RKTQDM7W02", made.unpaid],
    ]);
  });

  it("takes the charge of a pay-in for no payment, whichever stands first, and never corrects a customer by it", async () => {
    await RailOrders.in(place.databaseUrl, tenant.organizationId, async (orders) => {
      await orders.order(await orders.account("amina"), { amount: "1000.00", proof: { receipt: "RKTQDM7W01" } });
    });
    const header = `${HEADER},Reason Type`;
    const payment = `${csv({ receipt: "RKTQDM7W01", paidIn: "1,000.00" })},Pay Utility`;
    const charge = csv({ receipt: "RKTQDM7W01", withdrawn: "-5.50", details: "Pay Bill Charge" });
    const ofMpesa = `${charge.replace("254708***149", "SP")},Pay Utility`;
    const other = `${csv({ receipt: "RKTQDM7W02", withdrawn: "-7.00", details: "Novelty" }).replace("254708***149", "")},`;
    for (const lines of [
      [ofMpesa, payment],
      [payment, ofMpesa],
    ]) {
      const file = join(place.folder, "charges.csv");
      writeFileSync(file, [header, ...lines, other].join("\n"));
      const { stdout } = await kesc(
        ["reconcile", "mpesa", file, "--org", tenant.organizationId, ...period()],
        variables,
      );
      expect(stdout).to.contain("matched            1 movements, 1000.00 in, 0.00 out\n");
      expect(stdout).to.contain("charges            1 movements, 0.00 in, 5.50 out: 0 in the book\n");
      expect(stdout).to.contain("double             0\n");
      expect(stdout).to.contain("RKTQDM7W02, on the rail 7.00 out").and.to.contain("Look it up in the rail's portal");
      expect(stdout).not.to.match(/kesc (book|deposit)/);
    }
  });

  it("prints every difference: after a lost night there are many", async () => {
    const receipts = Array.from({ length: 150 }, (_, index) => `RKTQDM8${String(100 + index)}`);
    const { stdout } = await reconcile(
      receipts.map((receipt) => csv({ receipt, paidIn: "5.00" })),
      ...period(),
    );
    for (const receipt of receipts) expect(stdout).to.contain(`missing in ledger: ${receipt}, on the rail 5.00 in`);
  });

  it("counts no adjustment that waits for another person, or that was rejected", async () => {
    const { organizationId } = tenant;
    const adjust = correctBook("adjustMovement", organizationId, { amountCents: 100, key: "k", target: "RKTQDM7W01" });
    const { newProposalId } = adjust.authority;
    const differs = async (): Promise<void> => {
      const { code, stdout } = await reconcile([csv({ receipt: "RKTQDM7W01", paidIn: "99.00" })], ...period());
      expect(code).to.equal(1);
      expect(stdout).to.contain("amount differs     1\n");
    };
    await RailOrders.in(place.databaseUrl, organizationId, async (orders) => {
      await orders.order(await orders.account("amina"), { proof: { receipt: "RKTQDM7W01" } });
      await orders.commit(adjust);
    });
    await differs();
    await RailOrders.in(place.databaseUrl, organizationId, (orders) =>
      orders.commit(rejectProposal(organizationId, newProposalId, `${organizationId}:k`)),
    );
    await differs();
  });

  it("refuses what is no statement, what it cannot read, and an empty one without a period", async () => {
    const noColumns = join(place.folder, "other.csv");
    writeFileSync(noColumns, "a,b\n1,2\n");
    const of = (file: string): Promise<Ended> =>
      kesc(["reconcile", "mpesa", file, "--org", tenant.organizationId], variables);
    expect(await of(noColumns)).to.include({ code: 1, stdout: "" });
    expect((await of(noColumns)).stderr).to.contain(
      "other.csv: It is no statement of M-Pesa: no line has the names of its columns.",
    );
    expect((await of(join(place.folder, "none.csv"))).stderr).to.contain("cannot be read: ENOENT");

    const bad = await reconcile([csv({ receipt: "RKTQDM7W01", paidIn: "12.345" })]);
    expect(bad).to.include({ code: 1, stdout: "" });
    expect(bad.stderr).to.match(/^.*statement\.csv: Line 5: "Paid In" is no amount such as 1,053\.00\.\n$/m);

    expect((await reconcile([])).stderr).to.contain("has no movement, so there is no period to compare");
    expect((await reconcile([], ...period())).stdout).to.contain("matched            0 movements");
  });
});
