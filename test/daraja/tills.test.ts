import { expect } from "chai";

import { newOrganization } from "../../daraja/mpesa/organization.js";
import { Client } from "./client.js";

const TILL = "555001";
const STORE = "600001";
const PAYMENT = { msisdn: "254700000049", amountCents: 1_000, accountReference: "" };
const PUSH = { TransactionType: "CustomerBuyGoodsOnline", PartyB: TILL };

interface Result {
  Result: { ResultParameters: { ResultParameter: { Key: string; Value?: unknown }[] } };
}

describe("a till at the simulator", () => {
  let client: Client;

  beforeEach(async () => {
    const merchant = { merchantCents: 5_000, utilityCents: 0 };
    client = await Client.start({
      organizations: [newOrganization({ shortcode: TILL, storeNumber: STORE, ...merchant })],
    });
  });

  afterEach(() => client.close());

  /** The parameters of the result of the last query, two seconds later. */
  async function parameters(): Promise<Record<string, unknown>> {
    await client.clock.advance(2_000);
    const { ResultParameter } = (client.lastAt("/callbacks/c0") as Result).Result.ResultParameters;
    return Object.fromEntries(ResultParameter.map(({ Key, Value }) => [Key, Value]));
  }

  it("takes money into the merchant account, and confirms it as Buy Goods without a reference", async () => {
    expect((await client.registerUrls({ ShortCode: TILL })).status).to.equal(400);
    expect((await client.registerUrls({ ShortCode: STORE })).status).to.equal(200);
    await client.daraja.deposit(PAYMENT);
    expect(client.lastAt("/confirmations")).to.include({
      TransactionType: "Buy Goods",
      BusinessShortCode: TILL,
      BillRefNumber: "",
      OrgAccountBalance: "60.00",
    });
    expect(client.daraja.organization).to.include({ merchantCents: 6_000, utilityCents: 0 });
    expect(await client.control(""))
      .to.have.nested.property("organizations[0]")
      .that.includes({
        shortcode: TILL,
        store_number: STORE,
        merchant: 60,
        utility: 0,
      });
  });

  it("is named by its store number, where the setting says so", async () => {
    await client.control("/settings", { confirms_as: "store" });
    await client.registerUrls();
    const { number } = await client.daraja.deposit(PAYMENT);
    expect(client.lastAt("/confirmations")).to.include({ BusinessShortCode: STORE });
    await client.queryStatus({ TransactionID: number, OriginalConversationID: undefined });
    expect(await parameters()).to.include({ CreditPartyName: `${STORE} - Simulated Business` });
  });

  it("is prompted for by its store number, as Buy Goods", async () => {
    await client.registerUrls();
    expect((await client.push("254700000000", PUSH)).status).to.equal(200);
    await client.clock.advance(5_000);
    expect(client.lastAt("/callbacks/a0")).to.have.nested.property("Body.stkCallback.ResultCode", 0);
    expect(client.lastAt("/confirmations")).to.include({ TransactionType: "Buy Goods", BillRefNumber: "" });
    expect(client.daraja.organization.merchantCents).to.equal(15_000);
  });

  for (const [name, differing] of [
    ["the type of paybills", { ...PUSH, TransactionType: "CustomerPayBillOnline" }],
    ["the store number as PartyB", { ...PUSH, PartyB: STORE }],
  ] as const) {
    it(`fails a prompt with ${name}: 2028`, async () => {
      await client.push("254700000000", differing);
      await client.clock.advance(5_000);
      expect(client.lastAt("/callbacks/a0")).to.have.nested.property("Body.stkCallback.ResultCode", 2028);
    });
  }

  it("is pulled and queried by its store number", async () => {
    const { number } = await client.daraja.deposit(PAYMENT);
    expect((await client.registerPull({ ShortCode: TILL })).status).to.equal(400);
    const { body: registered } = await client.registerPull({ ShortCode: STORE });
    expect(registered).to.include({ ResponseStatus: "1000", ShortCode: STORE });
    const { body } = await client.pull({ ShortCode: STORE });
    expect(body).to.have.nested.property("Response[0][0]").that.includes({ transactionId: number, billreference: "" });

    expect((await client.queryStatus({ PartyA: TILL })).status).to.equal(400);
    await client.queryStatus({ TransactionID: number, OriginalConversationID: undefined });
    expect(await parameters()).to.include({ CreditPartyName: `${TILL} - Simulated Business`, Amount: "10" });
    await client.queryBalance();
    expect((await parameters())["AccountBalance"]).to.contain(
      "&Utility Account|KES|0.00|0.00|0.00|0.00&Merchant Account|KES|60.00|60.00|0.00|0.00&",
    );
  });

  it("gives the money of a reversal out of the merchant account", async () => {
    const { number } = await client.daraja.deposit(PAYMENT);
    const { receipt } = await client.control("/reversals", { receipt: number });
    expect(client.daraja.organization).to.include({ merchantCents: 5_000, utilityCents: 0 });
    await client.queryStatus({ TransactionID: receipt, OriginalConversationID: undefined });
    expect(await parameters()).to.include({ DebitAccountType: "Merchant Account" });
  });

  it("takes no account reference", async () => {
    const payment = { phone_number: PAYMENT.msisdn, amount: 10 };
    const refused = await client.control("/payments", { ...payment, account_reference: "acc" });
    const error = "account_reference must be empty: a till has no accounts";
    expect(refused).to.include({ status: 400, error });
    expect(await client.control("/payments", payment)).to.include({ status: 201, shortcode: TILL });
  });
});
