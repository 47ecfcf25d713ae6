import { expect } from "chai";

import { describeEachEngine, fresh, newAccount, problemOf } from "../support/service/each-engine.js";

const UNKNOWN = "txn_01jd2r6p5vf8ksw3xhb1z7q4ye";

describeEachEngine("GetTransaction", (service) => {
  it("answers what the call that made it answered", async () => {
    const id = await newAccount(service());
    const body = { account_id: id, amount: 12.3, reference: fresh("get"), metadata: { b: "2", a: "1" } };
    const minted = await service().rest("POST", "/transactions/mint", { body });
    const found = await service().rest("GET", `/v1/transactions/${String(minted.json["id"])}`);
    expect(found.status).to.equal(200);
    expect(found.text).to.equal(minted.text);
    const grpc = await service().grpc.call("GetTransaction", { transaction_id: minted.json["id"] });
    expect(grpc.response["transaction"]).to.deep.include({ amount: "12.30", metadata: { b: "2", a: "1" } });
  });

  it("answers NOT_FOUND for an id that does not exist, and refuses what is no id", async () => {
    const unknown = await service().rest("GET", `/transactions/${UNKNOWN}`);
    expect(problemOf(unknown)).to.include({ status: 404, code: "TRANSACTION_NOT_FOUND" });
    const bad = await service().rest("GET", "/transactions/mine");
    expect(problemOf(bad)).to.deep.equal({ status: 400, code: "INVALID_FIELD", fields: ["transaction_id"] });
    const grpc = await service().grpc.call("GetTransaction", { transaction_id: UNKNOWN });
    expect(grpc).to.include({ code: 5, reason: "TRANSACTION_NOT_FOUND" });
  });
});
