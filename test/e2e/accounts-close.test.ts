import { expect } from "chai";

import { describeEachEngine, fresh, newAccount, problemOf } from "../support/service/each-engine.js";

describeEachEngine("CloseAccount", (service) => {
  it("closes an empty account for ever", async () => {
    const id = await newAccount(service());
    const closed = await service().rest("POST", `/accounts/${id}/close`, { body: { note: "left" } });
    expect(closed.json).to.include({ status: "closed", status_note: "left" });
    const refused = await service().rest("POST", "/transactions/mint", {
      body: { account_id: id, amount: 1, reference: fresh("closed") },
    });
    expect(problemOf(refused)).to.include({ status: 422, code: "ACCOUNT_CLOSED" });
    const again = await service().grpc.call("CloseAccount", { account_id: id });
    expect(again.replayed).to.equal(true);
  });

  it("refuses an account with money, with its balances", async () => {
    const id = await newAccount(service(), "0.01");
    const rest = await service().rest("POST", `/accounts/${id}/close`);
    expect(problemOf(rest)).to.include({ status: 422, code: "ACCOUNT_NOT_EMPTY" });
    expect(rest.text).to.include('"available":0.01').and.include('"held":0.00');
    const grpc = await service().grpc.call("CloseAccount", { account_id: id });
    expect(grpc).to.include({ code: 9, reason: "ACCOUNT_NOT_EMPTY" });
  });
});
