import { expect } from "chai";

import type { RestReply } from "../support/callers/rest-caller.js";
import { eventually } from "../support/eventually.js";
import { fresh, problemOf } from "../support/service/each-engine.js";
import { WithRails } from "../support/service/with-rails.js";

describe("a mint or a redemption on a rail", () => {
  let service: WithRails;
  before(async () => {
    service = await WithRails.start();
  });
  after(() => service.dispose());

  const mint = (body: object) => service.post("/transactions/mint", body);

  it("is begun at once, and completed when the rail has moved the shillings", async () => {
    const created = await service.tryMint({ amount: 100, rail: "sandbox", payer_phone_number: "0712345600" });
    expect(created.status).to.equal(201);
    expect(created.json).to.include({ status: "pending", rail: "sandbox", available_balance_after: null });
    const path = `/transactions/${String(created.json["id"])}`;
    await eventually(async () => (await service.get(path)).json["status"] === "completed");
    expect((await service.get(path)).json).to.include({ available_balance_after: 100 });
  });

  it("uses the organization's default rail, and a repeat without a rail is the same content after a change", async () => {
    await service.setSandbox({ isDefault: true });
    let body: object = {};
    let first: RestReply | undefined;
    await eventually(async () => {
      body = { account_id: await service.newAccount(), amount: 100, reference: fresh("ref") };
      first = await mint(body);
      return first.json["rail"] === "sandbox";
    });
    await service.setSandbox({ isDefault: false });
    await eventually(async () => (await service.tryMint({ amount: 1 })).json["rail"] === "direct");
    const again = await mint(body);
    expect([again.status, again.json["id"]]).to.deep.equal([200, first?.json["id"]]);
    expect((await mint({ ...body, rail: "sandbox" })).status).to.equal(200);
    const direct = await mint({ ...body, rail: "direct" });
    expect(direct.json).to.deep.include({ code: "REFERENCE_ALREADY_USED", differing_fields: ["rail"] });
  });

  it("is refused on a rail that the organization has no account at", async () => {
    const refused = await service.tryMint({ amount: 100, rail: "mpesa" });
    expect(refused.json).to.include({ status: 422, code: "RAIL_NOT_CONFIGURED", rail: "mpesa" });
    const body = { account_id: await service.newAccount(), amount: 100, reference: fresh("ref"), rail: "sandbox" };
    expect((await mint(body)).status).to.equal(201);
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
    expect(replies.map(({ json }) => json["rail"])).to.deep.equal(bodies.map(({ rail }) => rail ?? "direct"));
  });
});
