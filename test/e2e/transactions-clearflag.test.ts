import { expect } from "chai";

import { failPayment, flag } from "../support/operations/transactions.js";
import { problemOf } from "../support/service/each-engine.js";
import { WithRails } from "../support/service/with-rails.js";

describe("ClearFlag", () => {
  let service: WithRails;
  before(async () => {
    service = await WithRails.start();
  });
  after(() => service.dispose());

  const clear = (id: string, body: object) => service.post(`/transactions/${id}/clear-flag`, body);

  it("clears one flag of a transaction that has ended, once", async () => {
    const id = await service.unknownMint(100);
    const { organizationId } = service;
    await service.submit(failPayment(organizationId, id));
    await service.submit(flag(organizationId, id, "NOT_CREDITED"));
    expect((await service.get(`/transactions/${id}`)).json).to.include({ needs_attention: true });
    const { status, json } = await clear(id, { flag: "not_credited", note: "paid back" });
    expect([status, json["id"], json["needs_attention"]]).to.deep.equal([200, id, false]);
    const again = await clear(id, { flag: "not_credited" });
    expect([again.status, again.headers["idempotent-replayed"]]).to.deep.equal([200, "true"]);
  });

  it("refuses a payment that is on its way: it must be resolved", async () => {
    const id = await service.unknownMint(100);
    const refused = await clear(id, { flag: "outcome_unknown" });
    expect(problemOf(refused)).to.include({ status: 422, code: "TRANSACTION_STILL_OPEN" });
  });

  it("needs a flag that there is", async () => {
    expect(problemOf(await clear("txn_1", {})).fields).to.deep.equal(["flag"]);
    expect(problemOf(await clear("txn_1", { flag: "bored" })).fields).to.deep.equal(["flag"]);
  });
});
