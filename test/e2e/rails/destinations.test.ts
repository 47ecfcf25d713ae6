import { expect } from "chai";

import type { RestReply } from "../../support/callers/rest-caller.js";
import { ENGINES } from "../../support/databases.js";
import { RailWorld } from "./world.js";

const HOUR_MILLIS = 3_600_000;
/** Whom M-Pesa names as the owner of each phone. */
const OWNER = "JANE S******** D**";

for (const engine of ENGINES) {
  describe(`a redemption to a destination over M-Pesa (${engine})`, () => {
    let world: RailWorld;
    before(async () => {
      world = await RailWorld.start(engine, 1);
    });
    after(() => world.dispose());

    const call = (method: "GET" | "POST" | "DELETE", path: string, body?: object): Promise<RestReply> =>
      world.rest.send(method, path, { key: world.business(0).key, ...(body === undefined ? {} : { body }) });

    /** The numbers that M-Pesa was asked to pay. */
    const paidOut = (): readonly string[] =>
      world
        .ordersOf(world.business(0))
        .filter(({ direction }) => direction === "OUT")
        .map(({ msisdn }) => msisdn);

    it("pays the phone that it names once that has cooled, also after it was removed", async () => {
      const account = await call("POST", "/accounts", { user_id: "wanjiku", phone_number: "+254700000100" });
      const account_id = String(account.json["id"]);
      await call("POST", "/transactions/mint", { account_id, amount: 100, reference: "funds" });
      await world.pass(HOUR_MILLIS);
      const path = `/accounts/${account_id}/destinations`;
      const made = await call("POST", path, { kind: "phone", number: "+254722000200", label: "mother" });
      const paybill = await call("POST", path, { kind: "paybill", number: "600000", account_number: "RENT1" });
      const destination_id = String(made.json["id"]);
      const redeem = (given: object) =>
        call("POST", "/transactions/redeem", { account_id, amount: 20, reference: "rent", destination_id, ...given });

      const cooling = await redeem({});
      expect(cooling.json).to.include({ status: 422, code: "DESTINATION_COOLING", until: made.json["usable_at"] });
      await world.pass(24 * HOUR_MILLIS);
      const unpayable = await redeem({ destination_id: paybill.json["id"] });
      expect(unpayable.json).to.include({ status: 422, code: "DESTINATION_NOT_PAYABLE", destination_kind: "paybill" });
      const direct = await redeem({ rail: "direct" });
      expect(direct.json).to.include({ status: 400, code: "INVALID_FIELD" });

      const paid = await redeem({});
      expect(paid.json, paid.text).to.include({ status: "pending", destination_id });
      expect((await call("DELETE", `${path}/${destination_id}`)).status).to.equal(200);
      await world.pass(HOUR_MILLIS);
      const { json } = await call("GET", `/transactions/${String(paid.json["id"])}`);
      expect(json).to.include({ status: "completed", destination_id });
      expect(paidOut()).to.deep.equal(["254722000200"]);

      const gone = await redeem({ reference: "again" });
      expect(gone.json).to.include({ status: 404, code: "DESTINATION_NOT_FOUND", destination_id });
      const other = await redeem({ destination_id: "" });
      expect(other.json).to.include({ status: 409, code: "REFERENCE_ALREADY_USED" });
      expect((await redeem({})).headers["idempotent-replayed"]).to.equal("true");
      expect(await world.findings()).to.deep.equal([]);
    });

    it("has M-Pesa's name beside the label, asked once, and gone with the number", async () => {
      const account = await call("POST", "/accounts", { user_id: "names", phone_number: "+254700000100" });
      const path = `/accounts/${String(account.json["id"])}/destinations`;
      const till = { kind: "till", number: "5432300", label: "simulated business, 5432300" };
      const made = await call("POST", path, till);
      expect(made.status, made.text).to.equal(201);
      expect(made.json).to.include({ rail_name: "Simulated Business 5432300", rail_name_differs: false });
      const phone = await call("POST", path, { kind: "phone", number: "+254722000300", label: "Mary Simulated Doe" });
      expect(phone.json).to.include({ rail_name: OWNER, rail_name_differs: true });
      const unlabelled = await call("POST", path, { kind: "phone", number: "+254722000400" });
      expect(unlabelled.json).to.include({ rail_name: OWNER, rail_name_differs: null });
      const unknown = await call("POST", path, { kind: "till", number: "5432301", label: "gone" });
      expect(unknown.json).to.include({ rail_name: null, rail_name_differs: null });
      // The account at M-Pesa does not pay to paybills.
      const unpaid = await call("POST", path, { kind: "paybill", number: "600000", account_number: "RENT1" });
      expect(unpaid.json).to.include({ rail_name: null });

      const asked = world.namesAsked;
      const again = await call("POST", path, { ...till, label: "other" });
      expect(again.headers["idempotent-replayed"]).to.equal("true");
      expect(again.json).to.deep.equal(made.json);
      const wrong = await call("POST", "/accounts/acc_01jd2r6p5vf8ksw3xhb1z7q4ye/destinations", till);
      expect(wrong.status).to.equal(404);
      expect(world.namesAsked, "a repeat and a refusal ask nothing").to.equal(asked);

      const id = String(made.json["id"]);
      expect((await call("GET", `${path}/${id}`)).json).to.deep.equal(made.json);
      const events = await call("GET", "/events?types=destination.created");
      expect(events.text).not.to.match(/Simulated Business|JANE/);
      const removed = await call("DELETE", `${path}/${id}`);
      expect(removed.json).to.include({ rail_name: null, masked_number: made.json["masked_number"] });
      expect(await world.findings()).to.deep.equal([]);
    });

    it("is made without a name where Safaricom has not given the app the product, which is asked once", async () => {
      const account = await call("POST", "/accounts", { user_id: "lacking", phone_number: "+254700000100" });
      const path = `/accounts/${String(account.json["id"])}/destinations`;
      world.setMpesa(world.business(0), { lacksProduct: "/sfcverify" });
      const asked = world.namesAsked;
      for (const number of ["5432400", "5432500"]) {
        const made = await call("POST", path, { kind: "till", number, label: "shop" });
        expect(made.status, made.text).to.equal(201);
        expect(made.json).to.include({ rail_name: null });
      }
      expect(world.namesAsked).to.equal(asked + 1);
      const phone = await call("POST", path, { kind: "phone", number: "+254722000500" });
      expect(phone.json).to.include({ rail_name: OWNER });
    });

    for (const [what, number, seconds] of [
      ["the answer is lost", "5432308", 60],
      ["the answer is malformed", "5432317", 60],
      ["only a notice of the queue comes", "5432313", 300],
      ["the gateway turns it away, as it does for its load", "5432309", 300],
    ] as const) {
      it(`asks M-Pesa once to pay a till, also where ${what}`, async () => {
        const account = await call("POST", "/accounts", { user_id: number, phone_number: "+254700000100" });
        const account_id = String(account.json["id"]);
        const body = { account_id, amount: 100, reference: `funds ${number}` };
        await call("POST", "/transactions/mint", body);
        const till = await call("POST", `/accounts/${account_id}/destinations`, { kind: "till", number });
        await world.pass(24 * HOUR_MILLIS);
        const destination_id = String(till.json["id"]);
        const paid = await call("POST", "/transactions/redeem", {
          ...body,
          amount: 5,
          reference: number,
          destination_id,
        });
        expect(paid.json, paid.text).to.include({ status: "pending" });
        await world.pass(seconds * 1_000);
        const isTurnedAway = number.endsWith("09");
        const { json } = await call("GET", `/transactions/${String(paid.json["id"])}`);
        expect(json["status"]).to.equal(isTurnedAway ? "processing" : "completed");
        expect(paidOut().filter((each) => each === number)).to.have.length(isTurnedAway ? 0 : 1);
        expect(await world.findings()).to.deep.equal([]);
      });
    }
  });
}
