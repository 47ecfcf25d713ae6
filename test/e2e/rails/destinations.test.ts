import { expect } from "chai";

import type { RestReply } from "../../support/callers/rest-caller.js";
import { ENGINES } from "../../support/databases.js";
import { RailWorld } from "./world.js";

const HOUR_MILLIS = 3_600_000;

for (const engine of ENGINES) {
  describe(`a redemption to a destination over M-Pesa (${engine})`, () => {
    let world: RailWorld;
    before(async () => {
      world = await RailWorld.start(engine, 1);
    });
    after(() => world.dispose());

    const call = (method: "GET" | "POST" | "DELETE", path: string, body?: object): Promise<RestReply> =>
      world.rest.send(method, path, { key: world.business(0).key, ...(body === undefined ? {} : { body }) });

    it("pays the phone that it names once that has cooled, also after it was removed", async () => {
      const account = await call("POST", "/accounts", { user_id: "wanjiku", phone_number: "+254700000100" });
      const account_id = String(account.json["id"]);
      await call("POST", "/transactions/mint", { account_id, amount: 100, reference: "funds" });
      await world.pass(HOUR_MILLIS);
      const path = `/accounts/${account_id}/destinations`;
      const made = await call("POST", path, { kind: "phone", number: "+254733000200", label: "mother" });
      const till = await call("POST", path, { kind: "till", number: "5432321" });
      const destination_id = String(made.json["id"]);
      const redeem = (given: object) =>
        call("POST", "/transactions/redeem", { account_id, amount: 20, reference: "rent", destination_id, ...given });

      const cooling = await redeem({});
      expect(cooling.json).to.include({ status: 422, code: "DESTINATION_COOLING", until: made.json["usable_at"] });
      await world.pass(24 * HOUR_MILLIS);
      const unpayable = await redeem({ destination_id: till.json["id"] });
      expect(unpayable.json).to.include({ status: 422, code: "DESTINATION_NOT_PAYABLE", destination_kind: "till" });
      const direct = await redeem({ rail: "direct" });
      expect(direct.json).to.include({ status: 400, code: "INVALID_FIELD" });

      const paid = await redeem({});
      expect(paid.json, paid.text).to.include({ status: "pending", destination_id });
      expect((await call("DELETE", `${path}/${destination_id}`)).status).to.equal(200);
      await world.pass(HOUR_MILLIS);
      const { json } = await call("GET", `/transactions/${String(paid.json["id"])}`);
      expect(json).to.include({ status: "completed", destination_id });
      const orders = world.ordersOf(world.business(0)).filter(({ direction }) => direction === "OUT");
      expect(orders.map(({ msisdn }) => msisdn)).to.deep.equal(["254733000200"]);

      const gone = await redeem({ reference: "again" });
      expect(gone.json).to.include({ status: 404, code: "DESTINATION_NOT_FOUND", destination_id });
      const other = await redeem({ destination_id: "" });
      expect(other.json).to.include({ status: 409, code: "REFERENCE_ALREADY_USED" });
      expect((await redeem({})).headers["idempotent-replayed"]).to.equal("true");
      expect(await world.findings()).to.deep.equal([]);
    });
  });
}
