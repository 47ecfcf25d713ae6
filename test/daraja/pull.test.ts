import { expect } from "chai";

import { Client } from "./client.js";

describe("pull transactions at the simulator", () => {
  let client: Client;

  beforeEach(async () => {
    client = await Client.start();
  });

  afterEach(() => client.close());

  async function pulled(differing = {}): Promise<Record<string, unknown>[]> {
    const { status, body } = await client.pull(differing);
    expect(status).to.equal(200);
    const [rows = []] = body?.["Response"] as Record<string, unknown>[][];
    expect(body?.["ResponseCode"]).to.equal(rows.length > 0 ? "1000" : "1001");
    return rows;
  }

  it("is for registered shortcodes", async () => {
    await client.daraja.deposit({ msisdn: "254700000001", amountCents: 100, accountReference: "acc" });
    const refused = "Bad Request - ShortCode is not registered for Pull Transactions";
    expect((await client.pull()).body?.["errorMessage"]).to.equal(refused);
    const answers = [await client.registerPull(), await client.registerPull()];
    expect(answers.map(({ body }) => body?.["ResponseStatus"])).to.deep.equal(["1000", "1001"]);
    expect(await pulled()).to.have.length(1);
  });

  it("lists what came in, prompts and deposits, and no payout", async () => {
    await client.registerPull();
    expect(await pulled()).to.deep.equal([]);
    await client.push("254700000000");
    await client.payOut("254110000000");
    await client.clock.advance(5_000);
    await client.daraja.deposit({ msisdn: "254700000001", amountCents: 2_000, accountReference: "acc" });
    const rows = await pulled();
    expect(rows[0]).to.deep.equal({
      transactionId: client.daraja.receipts.find(({ direction }) => direction === "IN")?.number,
      trxDate: "2026-01-05T09:00:05+03:00",
      msisdn: 254700000000,
      sender: "MPESA",
      transactiontype: "c2b-pay-bill-debit",
      billreference: "INVOICE-1",
      amount: "100.0",
      organizationname: "Simulated Business",
    });
    expect(rows.map(({ amount }) => amount)).to.deep.equal(["100.0", "20.0"]);
  });

  it("lists a hundred rows a page, from the offset that is asked for", async () => {
    await client.registerPull();
    for (let i = 0; i < 120; i++) {
      await client.daraja.deposit({ msisdn: "254700000001", amountCents: 100, accountReference: String(i) });
    }
    expect(await pulled()).to.have.length(100);
    const rest = await pulled({ OffSetValue: 100 });
    expect(rest.map(({ billreference }) => billreference)).to.deep.equal(
      Array.from({ length: 20 }, (_, i) => String(100 + i)),
    );
    expect(await pulled({ OffSetValue: 120 })).to.deep.equal([]);
  });

  it("counts pages in place of rows, where the offset is set so", async () => {
    client.daraja.organization.pullOffset = "pages";
    await client.registerPull();
    for (let i = 0; i < 120; i++) {
      await client.daraja.deposit({ msisdn: "254700000001", amountCents: 100, accountReference: String(i) });
    }
    const pages = [await pulled(), await pulled({ OffSetValue: 1 }), await pulled({ OffSetValue: 2 })];
    expect(pages.map((rows) => rows[0]?.["billreference"])).to.deep.equal(["0", "100", undefined]);
    expect((await client.pull()).body?.["TotalPages"]).to.equal(2);
  });

  it("lists a payment only after the lag that is set", async () => {
    client.daraja.organization.pullLagMillis = 60_000;
    await client.registerPull();
    await client.daraja.deposit({ msisdn: "254700000001", amountCents: 100, accountReference: "x" });
    await client.clock.advance(59_999);
    expect(await pulled()).to.deep.equal([]);
    await client.clock.advance(1);
    expect(await pulled()).to.have.length(1);
  });

  it("shows another payment than was made, or a payment late, by the ending of the payer's phone", async () => {
    await client.registerPull();
    for (const ending of ["00", "05", "07", "11", "16", "17"]) {
      const msisdn = `2547000000${ending}`;
      await client.daraja.payByHand({ msisdn, amountCents: 1_000, accountReference: "acc" });
    }
    const listed = async (): Promise<unknown[]> =>
      (await pulled()).map(({ msisdn, amount, billreference }) => [Number(msisdn) % 100, amount, billreference]);
    const atOnce = [
      [0, "10.0", "acc"],
      [5, "10.0", "acc"],
      [16, "11.0", "acc"],
      [17, "10.0", "ANOTHER"],
    ];
    expect(await listed()).to.deep.equal(atOnce);
    await client.clock.advance(60_000);
    expect(await listed()).to.deep.equal(atOnce.toSpliced(2, 0, [11, "10.0", "acc"]));
    const paid = client.daraja.receipts.map(({ amountCents, accountReference }) => [amountCents, accountReference]);
    expect(paid).to.deep.equal(Array.from({ length: 5 }, () => [1_000, "acc"]));
  });

  it("lists nothing for a shortcode that was not provisioned, in the words of an empty list", async () => {
    await client.registerPull();
    const wordsOf = ({ status, body }: Awaited<ReturnType<Client["pull"]>>): unknown[] => [
      status,
      body?.["ResponseCode"],
      body?.["ResponseMessage"],
    ];
    const empty = wordsOf(await client.pull());
    expect(empty).to.deep.equal([200, "1001", "No records found or Organization Name not available"]);
    client.daraja.organization.isPullProvisioned = false;
    await client.daraja.deposit({ msisdn: "254700000001", amountCents: 100, accountReference: "x" });
    expect(wordsOf(await client.pull())).to.deep.equal(empty);
  });

  it("lists the span that is asked for, and no more than 48 hours back", async () => {
    await client.registerPull();
    await client.daraja.deposit({ msisdn: "254700000001", amountCents: 100, accountReference: "x" });
    expect(await pulled({ EndDate: "2026-01-05 08:59:59" })).to.deep.equal([]);
    expect(await pulled({ StartDate: "2026-01-05 09:00:01" })).to.deep.equal([]);
    expect(await pulled()).to.have.length(1);
    await client.clock.advance(48 * 3_600_000 + 1);
    await client.renewToken();
    expect(await pulled()).to.deep.equal([]);
  });

  it("is refused with a wrong date or offset", async () => {
    await client.registerPull();
    for (const [field, value] of [
      ["StartDate", "2026-01-05T00:00:00"],
      ["EndDate", "2026-13-05 00:00:00"],
      ["OffSetValue", "-1"],
      ["ShortCode", "600000"],
    ] as const) {
      expect((await client.pull({ [field]: value })).body?.["errorMessage"]).to.equal(`Bad Request - Invalid ${field}`);
    }
  });
});
