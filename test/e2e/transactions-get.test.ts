import { expect } from "chai";

import { describeEachEngine, fresh, newAccount } from "../support/service/each-engine.js";

describeEachEngine("GetTransaction", (service) => {
  it("returns the response of the call that made it", async () => {
    const id = await newAccount(service());
    const body = { account_id: id, amount: 12.3, reference: fresh("get"), metadata: { b: "2", a: "1" } };
    const minted = await service().rest("POST", "/transactions/mint", { body });
    const found = await service().rest("GET", `/v1/transactions/${String(minted.json["id"])}`);
    expect(found.status).to.equal(200);
    expect(found.text).to.equal(minted.text);
    const grpc = await service().grpc.call("GetTransaction", { transaction_id: minted.json["id"] });
    expect(grpc.response["transaction"]).to.deep.include({ amount: "12.30", metadata: { b: "2", a: "1" } });
  });
});
