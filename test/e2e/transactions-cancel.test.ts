import { expect } from "chai";

import { eventually } from "../support/eventually.js";
import { describeEachEngine, fresh, newAccount, problemOf } from "../support/service/each-engine.js";
import { WithRails } from "../support/service/with-rails.js";

// On the direct rail a transaction completes before a caller can cancel it.
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

describe("CancelTransaction", () => {
  let service: WithRails;
  before(async () => {
    service = await WithRails.start();
  });
  after(() => service.dispose());

  const heldMint = async (): Promise<string> => {
    const body = { amount: 100, rail: "sandbox", payer_phone_number: "+254712345617" };
    const id = String((await service.tryMint(body)).json["id"]);
    const path = `/transactions/${id}/payment`;
    await eventually(async () => (await service.get(path)).json["last_code"] === "HELD");
    return id;
  };

  it("cancels an order of the sandbox that nobody has advanced, and repeats as a replay", async () => {
    const id = await heldMint();
    const { status, json } = await service.post(`/transactions/${id}/cancel`, { note: "changed my mind" });
    expect(status).to.equal(200);
    expect(json).to.include({ id, status: "canceled", status_note: "changed my mind", failure: null });
    const again = await service.post(`/transactions/${id}/cancel`, { note: "changed my mind" });
    expect([again.status, again.headers["idempotent-replayed"]]).to.deep.equal([200, "true"]);
  });

  it("refuses the same order once somebody has advanced it", async () => {
    const id = await heldMint();
    await service.post(`/sandbox/transactions/${id}/advance`, undefined);
    await eventually(async () => (await service.get(`/transactions/${id}`)).json["status"] === "completed");
    const { json } = await service.post(`/transactions/${id}/cancel`, {});
    expect(json).to.include({ code: "INVALID_TRANSITION", from: "completed", to: "canceled" });
  });
});
