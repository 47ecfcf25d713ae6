import { expect } from "chai";

import { availableOf, describeEachEngine, fresh, newAccount } from "../support/service/each-engine.js";

describeEachEngine("UnfreezeAccount", (service) => {
  it("lets money move again", async () => {
    const id = await newAccount(service(), "10.00");
    await service().rest("POST", `/accounts/${id}/freeze`);
    const active = await service().rest("POST", `/accounts/${id}/unfreeze`, { body: { reason: "found again" } });
    expect(active.json).to.include({ status: "active", status_reason: "found again" });
    const body = { account_id: id, amount: 4, reference: fresh("thawed") };
    expect((await service().rest("POST", "/transactions/redeem", { body })).status).to.equal(201);
    expect(await availableOf(service(), id)).to.equal("6.00");
  });

  it("returns an active account unchanged, as a replay", async () => {
    const id = await newAccount(service());
    const again = await service().grpc.call("UnfreezeAccount", { account_id: id });
    expect(again.response["account"]).to.include({ status: "ACCOUNT_STATUS_ACTIVE" });
    expect(again.replayed).to.equal(true);
  });
});
