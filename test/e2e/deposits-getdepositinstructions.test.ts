import { expect } from "chai";

import { describeEachEngine, newAccount, problemOf } from "../support/service/each-engine.js";

describeEachEngine("GetDepositInstructions", (service) => {
  const instructions = (accountId: string, key?: string) =>
    service().rest("GET", `/accounts/${accountId}/deposit-instructions`, key === undefined ? {} : { key });

  it("returns nothing while no rail takes deposits, over both protocols", async () => {
    const accountId = await newAccount(service());
    const { status, json } = await instructions(accountId);
    expect([status, json]).to.deep.equal([200, { instructions: [] }]);
    const { response } = await service().grpc.call("GetDepositInstructions", { account_id: accountId });
    expect(response).to.deep.equal({ instructions: [] });
  });

  it("refuses an account that is none, or of another organization", async () => {
    const accountId = await newAccount(service());
    for (const reply of [await instructions(accountId, service().b.key), await instructions("acc_1")]) {
      expect(problemOf(reply)).to.include({ status: 404, code: "ACCOUNT_NOT_FOUND" });
    }
  });
});
