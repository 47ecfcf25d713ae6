import { expect } from "chai";

import { ENGINES_OF_STAGE } from "../../support/databases.js";
import { RailWorld } from "./world.js";

const HOUR_MILLIS = 3_600_000;

for (const engine of ENGINES_OF_STAGE) {
  describe(`a number of another network at M-Pesa (${engine})`, () => {
    let world: RailWorld;
    before(async () => {
      world = await RailWorld.start(engine, 1);
    });
    after(() => world.dispose());

    const call = (method: "GET" | "POST" | "PATCH", path: string, body?: object) =>
      world.rest.send(method, path, { key: world.business(0).key, ...(body === undefined ? {} : { body }) });

    it("is a warning at the account and at the redemption, never a refusal, and M-Pesa pays nothing", async () => {
      const airtel = await call("POST", "/accounts", { user_id: "amina", phone_number: "0733123400" });
      expect([airtel.status, airtel.json["warnings"]]).to.deep.equal([201, ["other_network"]]);
      const account_id = String(airtel.json["id"]);
      expect((await call("GET", `/accounts/${account_id}`)).json["warnings"]).to.deep.equal([]);
      const funds = { account_id, amount: 100, reference: "funds", rail: "direct" };
      expect((await call("POST", "/transactions/mint", funds)).json["warnings"]).to.deep.equal([]);
      const order = { account_id, amount: 20, reference: "out", rail: "mpesa" };
      const redeemed = await call("POST", "/transactions/redeem", order);
      expect([redeemed.status, redeemed.json["warnings"]]).to.deep.equal([201, ["other_network"]]);
      await world.pass(HOUR_MILLIS);
      const { json } = await call("GET", `/transactions/${String(redeemed.json["id"])}`);
      expect(json).to.deep.include({ status: "failed", warnings: [] });
      expect((json["failure"] as { reason: string }).reason).to.equal("recipient_not_registered");

      const ported = await call("PATCH", `/accounts/${account_id}`, { phone_number: "0712123400" });
      expect([ported.status, ported.json["warnings"]]).to.deep.equal([200, []]);
      expect(world.movedFor(world.business(0))).to.deep.equal([]);
      expect(await world.findings()).to.deep.equal([]);
    });
  });
}
