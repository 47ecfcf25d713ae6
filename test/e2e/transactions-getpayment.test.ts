import { expect } from "chai";

import { fresh, problemOf } from "../support/service/each-engine.js";
import { WithRails } from "../support/service/with-rails.js";

describe("GetPayment", () => {
  let service: WithRails;
  before(async () => {
    service = await WithRails.start();
  });
  after(() => service.running.dispose());

  it("shows the payment of a transaction on a rail, without its phone number", async () => {
    const id = await service.unknownMint(100);
    const { status, json, text } = await service.get(`/transactions/${id}/payment`);
    expect(status).to.equal(200);
    expect(json).to.deep.include({
      transaction_id: id,
      state: "accepted",
      rail: "sandbox",
      masked_phone_number: "254708***149",
      rail_reference: "ws_CO_1",
      checks: 3,
      sends: 1,
      last_code: "4999",
      next_check_at: "2026-01-02T01:00:00.000Z",
      open_flags: ["outcome_unknown"],
      messages: [],
    });
    expect(text).not.to.include("254708374149");
  });

  it("refuses a direct transaction, one of nobody, and that of another organization", async () => {
    const account_id = await service.newAccount();
    const direct = await service.post("/transactions/mint", { account_id, amount: 1, reference: fresh("ref") });
    const path = (id: unknown): string => `/transactions/${String(id)}/payment`;
    expect(problemOf(await service.get(path(direct.json["id"])))).to.include({
      status: 404,
      code: "PAYMENT_NOT_FOUND",
    });
    const none = { status: 404, code: "TRANSACTION_NOT_FOUND" };
    expect(problemOf(await service.get(path("txn_01jd2r6p5vf8ksw3xhb1z7q4ye")))).to.include(none);
    const id = await service.mint(100);
    expect(problemOf(await service.get(path(id), service.running.b.key))).to.include(none);
  });
});
