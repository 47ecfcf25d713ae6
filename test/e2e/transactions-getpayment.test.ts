import { expect } from "chai";

import { problemOf } from "../support/service/each-engine.js";
import { WithRails } from "../support/service/with-rails.js";

describe("GetPayment", () => {
  let service: WithRails;
  before(async () => {
    service = await WithRails.start();
  });
  after(() => service.dispose());

  it("shows the payment of a transaction on a rail, without its phone number", async () => {
    const id = await service.unknownMint(100);
    const { status, json, text } = await service.get(`/transactions/${id}/payment`);
    expect(status).to.equal(200);
    expect(json).to.deep.include({
      transaction_id: id,
      state: "accepted",
      rail: "sandbox",
      masked_phone_number: "+254******613",
      send_count: 1,
      open_flags: ["outcome_unknown"],
      messages: [],
    });
    expect(json).to.include.all.keys("rail_reference", "started_at", "next_check_at", "check_count", "last_code");
    expect(text).not.to.include("254712345613");
  });

  it("refuses a direct transaction, one of nobody, and that of another organization", async () => {
    const direct = await service.tryMint({ amount: 1 });
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
