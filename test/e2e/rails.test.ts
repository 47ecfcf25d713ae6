import { expect } from "chai";

import { fresh, problemOf } from "../support/service/each-engine.js";
import { SANDBOX } from "../support/service/memory-rails.js";
import { WithRails } from "../support/service/with-rails.js";

describe("a mint or a redemption on a rail", () => {
  let service: WithRails;
  before(async () => {
    service = await WithRails.start();
  });
  after(() => service.running.dispose());
  afterEach(() => {
    service.rails.usual.clear();
  });

  const mint = (body: object) => service.post("/transactions/mint", body);

  it("is pending until the rail has moved the shillings, and can be canceled", async () => {
    const id = await service.mint(100);
    const { json } = await service.get(`/transactions/${id}`);
    expect(json).to.include({ status: "pending", rail: "sandbox", available_balance_after: null });
    expect((await service.post(`/transactions/${id}/cancel`)).json).to.include({ status: "canceled" });
  });

  it("uses the organization's usual rail, and a repeat without a rail is the same content after a change", async () => {
    const body = { account_id: await service.newAccount(), amount: 100, reference: fresh("ref") };
    service.rails.usual.set(service.running.a.organizationId, SANDBOX);
    const first = await mint(body);
    expect(first.json).to.include({ rail: "sandbox", status: "pending" });
    service.rails.usual.clear();
    const again = await mint(body);
    expect([again.status, again.json]).to.deep.equal([200, first.json]);
    expect((await mint({ ...body, rail: "sandbox" })).status).to.equal(200);
    const direct = await mint({ ...body, rail: "direct" });
    expect(direct.json).to.deep.include({ code: "REFERENCE_ALREADY_USED", differing_fields: ["rail"] });
  });

  it("credits nothing at once when the usual rail cannot be used", async () => {
    service.rails.usual.set(service.running.a.organizationId, "mpesa" as typeof SANDBOX);
    const body = { account_id: await service.newAccount(), amount: 100, reference: fresh("ref") };
    const refused = await mint(body);
    expect(refused.json).to.include({ status: 422, code: "RAIL_NOT_CONFIGURED", rail: "mpesa" });
    expect((await mint({ ...body, rail: "direct" })).status).to.equal(201);
  });

  it("refuses what the rail cannot pay, and whom it cannot reach", async () => {
    const body = { account_id: await service.newAccount(), reference: fresh("ref"), rail: "sandbox" };
    expect((await mint({ ...body, amount: 10.5 })).json).to.include({
      code: "AMOUNT_NOT_PAYABLE",
      nearest_below: 10,
      nearest_above: 11,
    });
    const abroad = await mint({ ...body, amount: 10, payer_phone_number: "+255712345678" });
    expect(abroad.json).to.include({ status: 422, code: "PHONE_NUMBER_NOT_PAYABLE", rail: "sandbox" });
    expect((await mint({ ...body, amount: 10, payer_phone_number: "0733111222" })).status).to.equal(201);
  });

  it("refuses a payer on the direct rail, and a redemption with a payer", async () => {
    const body = { account_id: await service.newAccount(), amount: 1, reference: fresh("ref") };
    const payer = { payer_phone_number: "0733111222" };
    expect(problemOf(await mint({ ...body, ...payer }))).to.deep.include({ status: 400, fields: Object.keys(payer) });
    const redeem = await service.post("/transactions/redeem", { ...body, ...payer, rail: "sandbox" });
    expect(problemOf(redeem)).to.deep.include({ status: 400, fields: Object.keys(payer) });
  });

  it("has the same rail at once with others, when the gateway combines them", async () => {
    const account_id = await service.newAccount();
    const bodies = Array.from({ length: 40 }, (_, index) => ({
      account_id,
      amount: 10,
      reference: fresh("ref"),
      ...(index % 2 === 0 ? { rail: "sandbox" } : {}),
    }));
    const replies = await Promise.all(bodies.map(mint));
    expect(replies.map(({ json }) => `${String(json["rail"])} ${String(json["status"])}`)).to.deep.equal(
      bodies.map(({ rail }) => (rail === undefined ? "direct completed" : "sandbox pending")),
    );
  });
});
