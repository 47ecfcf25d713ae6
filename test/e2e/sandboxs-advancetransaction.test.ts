import { expect } from "chai";

import { fresh, problemOf } from "../support/service/each-engine.js";
import { WithRails } from "../support/service/with-rails.js";

describe("AdvanceTransaction", () => {
  let service: WithRails;
  before(async () => {
    service = await WithRails.start();
  });
  after(() => service.running.dispose());

  const advance = (id: string, key?: string) => service.post(`/sandbox/transactions/${id}/advance`, undefined, key);

  it("moves an order of the sandbox on", async () => {
    const id = await service.mint(100);
    const pokes = service.rails.pokes;
    const { status, json } = await advance(id);
    expect([status, json["id"]]).to.deep.equal([200, id]);
    expect([service.rails.advanced, service.rails.pokes]).to.deep.equal([[id], pokes + 1]);
  });

  it("refuses a direct transaction, and one of another organization", async () => {
    const account_id = await service.newAccount();
    const direct = await service.post("/transactions/mint", { account_id, amount: 1, reference: fresh("ref") });
    const refused = await advance(String(direct.json["id"]));
    expect(refused.json).to.include({ status: 422, code: "RAIL_NOT_SANDBOX", rail: "direct" });
    const foreign = await advance(await service.mint(100), service.running.b.key);
    expect(problemOf(foreign)).to.include({ status: 404, code: "TRANSACTION_NOT_FOUND" });
  });
});
