import { expect } from "chai";

import { availableOf, describeEachEngine, fresh, newAccount, problemOf } from "../support/service/each-engine.js";

describeEachEngine("FreezeAccount", (service) => {
  it("makes the account refuse mints and redemptions, and keeps the reason", async () => {
    const id = await newAccount(service(), "10.00");
    const frozen = await service().rest("POST", `/accounts/${id}/freeze`, { body: { reason: "reported stolen" } });
    expect(frozen.status).to.equal(200);
    expect(frozen.json).to.include({ status: "frozen", status_reason: "reported stolen" });

    for (const way of ["mint", "redeem"]) {
      const refused = await service().rest("POST", `/transactions/${way}`, {
        body: { account_id: id, amount: 1, reference: fresh("frozen") },
      });
      expect(problemOf(refused)).to.include({ status: 422, code: "ACCOUNT_FROZEN" });
    }
    const grpc = await service().grpc.call("Mint", { account_id: id, amount: "1.00", reference: fresh("frozen") });
    expect(grpc).to.include({ code: 9, reason: "ACCOUNT_FROZEN" });
    expect(grpc.facts).to.include({ account_id: id });
    expect(await availableOf(service(), id)).to.equal("10.00");
  });

  it("returns a frozen account unchanged, as a replay", async () => {
    const id = await newAccount(service());
    await service().grpc.call("FreezeAccount", { account_id: id, reason: "first" });
    const again = await service().grpc.call("FreezeAccount", { account_id: id, reason: "second" });
    expect(again.code).to.equal(0);
    expect(again.response["account"]).to.include({ status_reason: "first" });
    expect(again.replayed).to.equal(true);
  });
});
