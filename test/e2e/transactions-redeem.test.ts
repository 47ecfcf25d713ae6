import { expect } from "chai";

import { availableOf, describeEachEngine, fresh, newAccount, problemOf } from "../support/service/each-engine.js";

describeEachEngine("Redeem", (service) => {
  it("debits the account, and returns the transaction", async () => {
    const id = await newAccount(service(), "100.00");
    const body = { account_id: id, amount: 30.01, reference: fresh("payout") };
    const redeemed = await service().rest("POST", "/transactions/redeem", { body });
    expect(redeemed.status).to.equal(201);
    expect(redeemed.json).to.include({ type: "redeem", status: "completed" });
    expect(redeemed.text).to.include('"amount":30.01');
    expect(await availableOf(service(), id)).to.equal("69.99");
  });

  it("refuses one cent more than is available, with both amounts, and takes the reference again later", async () => {
    const id = await newAccount(service(), "10.00");
    const request = { account_id: id, amount: "10.01", reference: fresh("short") };
    const rest = await service().rest("POST", "/transactions/redeem", { body: request });
    expect(problemOf(rest)).to.include({ status: 422, code: "INSUFFICIENT_FUNDS" });
    expect(rest.headers["content-type"]).to.match(/^application\/problem\+json/);
    expect(rest.text).to.include('"available":10.00').and.include('"requested":10.01');
    const grpc = await service().grpc.call("Redeem", request);
    expect(grpc).to.include({ code: 9, reason: "INSUFFICIENT_FUNDS" });
    expect(grpc.facts).to.deep.include({ available: "10.00", requested: "10.01" });

    await service().grpc.call("Mint", { account_id: id, amount: "0.01", reference: fresh("topup") });
    expect((await service().grpc.call("Redeem", request)).code).to.equal(0);
    expect(await availableOf(service(), id)).to.equal("0.00");
  });
});
