import { expect } from "chai";

import { describeEachEngine, fresh, newAccount, problemOf } from "../support/service/each-engine.js";

// On the direct rail a transaction completes before a caller can cancel it. The ledger's contract
// suite (test/storage/sql/ledger-store.test.ts) cancels one that is still pending.
describeEachEngine("CancelTransaction", (service) => {
  it("refuses a completed transaction", async () => {
    const id = await newAccount(service());
    const body = { account_id: id, amount: 1, reference: fresh("late") };
    const minted = await service().rest("POST", "/transactions/mint", { body });
    const path = `/transactions/${String(minted.json["id"])}/cancel`;
    const rest = await service().rest("POST", path, { body: { note: "changed my mind" } });
    expect(problemOf(rest)).to.include({ status: 422, code: "INVALID_TRANSITION" });
    expect(rest.json).to.include({ from: "completed", to: "canceled" });
    const grpc = await service().grpc.call("CancelTransaction", { transaction_id: minted.json["id"] });
    expect(grpc).to.include({ code: 9, reason: "INVALID_TRANSITION" });
  });
});
