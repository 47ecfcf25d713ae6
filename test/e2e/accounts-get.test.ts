import { expect } from "chai";

import { describeEachEngine, newAccount } from "../support/service/each-engine.js";

describeEachEngine("GetAccount", (service) => {
  it("returns the account with its balances, the same over REST and gRPC", async () => {
    const id = await newAccount(service(), "1234.50");
    const rest = await service().rest("GET", `/accounts/${id}`);
    expect(rest.status).to.equal(200);
    expect(rest.text).to.include('"available_balance":1234.50');
    const grpc = await service().grpc.call("GetAccount", { account_id: id });
    expect(grpc.response["account"]).to.include({ id, available_balance: "1234.50", held_balance: "0.00" });
  });
});
