import { expect } from "chai";

import { eventually } from "../support/eventually.js";
import { problemOf } from "../support/service/each-engine.js";
import { WithRails } from "../support/service/with-rails.js";

describe("AdvanceTransaction", () => {
  let service: WithRails;
  before(async () => {
    service = await WithRails.start();
  });
  after(() => service.dispose());

  const advance = (id: string, key?: string) => service.post(`/sandbox/transactions/${id}/advance`, undefined, key);

  it("lets an order of the sandbox end now, and is a replay afterwards", async () => {
    const id = await service.mint(100);
    const { status, json, headers } = await advance(id);
    expect([status, json["id"], headers["idempotent-replayed"]]).to.deep.equal([200, id, undefined]);
    await eventually(async () => (await service.get(`/transactions/${id}`)).json["status"] === "completed");
    const again = await advance(id);
    expect([again.status, again.json["status"], again.headers["idempotent-replayed"]]).to.deep.equal([
      200,
      "completed",
      "true",
    ]);
  });

  it("refuses a direct transaction, and one of another organization", async () => {
    const direct = await service.tryMint({ amount: 1 });
    const refused = await advance(String(direct.json["id"]));
    expect(refused.json).to.include({ status: 404, code: "PAYMENT_NOT_FOUND" });
    const foreign = await advance(await service.mint(100), service.running.b.key);
    expect(problemOf(foreign)).to.include({ status: 404, code: "TRANSACTION_NOT_FOUND" });
  });
});
