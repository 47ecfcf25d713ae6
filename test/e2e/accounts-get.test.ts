import { expect } from "chai";

import { describeEachEngine, newAccount, problemOf } from "../support/service/each-engine.js";

const UNKNOWN = "acc_01jd2r6p5vf8ksw3xhb1z7q4ye";

describeEachEngine("GetAccount", (service) => {
  it("answers the account with its balances, the same over REST and gRPC", async () => {
    const id = await newAccount(service(), "1234.50");
    const rest = await service().rest("GET", `/accounts/${id}`);
    expect(rest.status).to.equal(200);
    expect(rest.text).to.include('"available_balance":1234.50');
    const grpc = await service().grpc.call("GetAccount", { account_id: id });
    expect(grpc.response["account"]).to.include({ id, available_balance: "1234.50", held_balance: "0.00" });
  });

  it("answers NOT_FOUND for an id that does not exist", async () => {
    const rest = await service().rest("GET", `/accounts/${UNKNOWN}`);
    expect(problemOf(rest)).to.include({ status: 404, code: "ACCOUNT_NOT_FOUND" });
    expect(rest.json["account_id"]).to.equal(UNKNOWN);
    const grpc = await service().grpc.call("GetAccount", { account_id: UNKNOWN });
    expect(grpc).to.include({ code: 5, reason: "ACCOUNT_NOT_FOUND" });
  });

  it("refuses what is no id", async () => {
    const rest = await service().rest("GET", "/accounts/12345");
    expect(problemOf(rest)).to.deep.equal({ status: 400, code: "INVALID_FIELD", fields: ["account_id"] });
    const grpc = await service().grpc.call("GetAccount", { account_id: "txn_01jd2r6p5vf8ksw3xhb1z7q4ye" });
    expect(grpc).to.include({ code: 3, reason: "INVALID_FIELD" });
  });
});
