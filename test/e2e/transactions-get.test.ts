import { status as Status } from "@grpc/grpc-js";
import { expect } from "chai";

import { describeEachEngine, fresh, newAccount, problemOf } from "../support/service/each-engine.js";

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

  it("does not find an id that no one gave out, and neither do the calls that use one", async () => {
    const found = await service().rest("GET", "/transactions/txn_xyz789");
    expect(problemOf(found)).to.deep.equal({ status: 404, code: "TRANSACTION_NOT_FOUND", fields: [] });
    const canceled = await service().grpc.call("CancelTransaction", { transaction_id: "txn_xyz789" });
    expect(canceled).to.include({ code: Status.NOT_FOUND, reason: "TRANSACTION_NOT_FOUND" });
    const body = { account_id: "acc_xyz789", amount: "1.00", reference: fresh("nowhere") };
    const minted = await service().rest("POST", "/transactions/mint", { body });
    expect(problemOf(minted)).to.deep.equal({ status: 404, code: "ACCOUNT_NOT_FOUND", fields: [] });
    const listed = await service().rest("GET", "/transactions?account_id=acc_xyz789");
    expect(listed.json).to.deep.equal({ transactions: [], next_page_token: null });
  });
});
