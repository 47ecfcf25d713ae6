import { expect } from "chai";

import { ENGINES_OF_STAGE } from "../../support/databases.js";
import { eventually } from "../../support/eventually.js";
import { RailWorld } from "./world.js";

const RIGHT = "Simulated-Password-1";
const MINUTE_MILLIS = 60_000;

for (const engine of ENGINES_OF_STAGE) {
  describe(`a wrong password of the initiator at M-Pesa (${engine})`, () => {
    let world: RailWorld;
    before(async () => {
      world = await RailWorld.start(engine, 1);
    });
    after(() => world.dispose());

    it("is used once, is one warning that names it, and locks nobody; the right one ends what is open", async () => {
      const business = world.business(0);
      const organization = world.organizationOf(business);
      const { key } = business;
      const post = async (path: string, body: object) => (await world.rest.send("POST", path, { key, body })).json;
      const get = async (path: string) => (await world.rest.send("GET", path, { key })).json;
      const { id: account_id } = await post("/accounts", { user_id: "amina", phone_number: "0712345600" });
      await post("/transactions/mint", { account_id, amount: 1000, reference: "in", rail: "direct" });
      const redeem = async (reference: string) =>
        String((await post("/transactions/redeem", { account_id, amount: 100, reference, rail: "mpesa" }))["id"]);
      const warnings = async () => {
        const events = (await get("/events?types=rail.warned&types=rail.cleared"))["events"];
        return (events as { type: string; rail_warning: { code: string } }[])
          .filter(({ rail_warning: { code } }) => code === "CREDENTIALS_REFUSED")
          .map(({ type, rail_warning }) => [type, rail_warning]);
      };
      const refused = { rail: "mpesa", code: "CREDENTIALS_REFUSED", rail_code: "2001", credential: "initiator" };

      await world.pass(MINUTE_MILLIS);
      // Somebody has changed the password in the portal, and not here.
      Object.assign(organization, { initiatorPassword: "Another-Password-2" });
      const first = await redeem("first");
      await world.pass(20 * MINUTE_MILLIS);
      expect(organization.wrongPasswords).to.equal(1);
      const [[type, warning] = []] = await warnings();
      expect([(await warnings()).length, type]).to.deep.equal([1, "rail.warned"]);
      expect(warning).to.deep.include(refused);
      expect(await get(`/transactions/${first}`)).to.include({ status: "processing" });
      const second = await redeem("second");
      await eventually(async () => (await get(`/transactions/${second}/payment`))["held_reason"] !== null);
      expect(await get(`/transactions/${second}/payment`)).to.include({
        state: "ready",
        held_reason: "credentials_refused",
      });
      expect(organization.wrongPasswords).to.equal(1);

      expect(await world.setPassword(business, "Wrong-Password-3")).to.deep.equal({ result: "refused", code: "2001" });
      await eventually(async () => (await warnings()).length === 3);
      expect(organization.wrongPasswords).to.equal(2);

      Object.assign(organization, { initiatorPassword: RIGHT });
      expect(await world.setPassword(business, RIGHT)).to.deep.equal({ result: "accepted" });
      const kinds = (await warnings()).map(([kind]) => kind);
      expect(kinds).to.deep.equal([...Array.from({ length: 4 }, () => "rail.warned"), "rail.cleared"]);
      await world.pass(20 * MINUTE_MILLIS);
      expect(await get(`/transactions/${first}`)).to.include({ status: "failed" });
      expect(await get(`/transactions/${second}`)).to.include({ status: "completed" });
      expect(world.movedFor(business)).to.have.length(1);
      expect(await world.findings()).to.deep.equal([]);
    });

    it("is used once after it was set, by whatever asks before its answer is known", async () => {
      const business = world.business(0);
      const organization = world.organizationOf(business);
      const before = organization.wrongPasswords;
      await world.setAccount(business, { initiatorPassword: "Wrong-Password-4" });
      const [probed, again] = await Promise.all([world.probe(business), world.probe(business)]);
      for (const found of [probed, again]) {
        const { result, code } = found.find(({ product }) => product === "balance") ?? {};
        expect([result, code]).to.deep.equal(["WRONG", "2001"]);
      }
      await world.pass(5 * MINUTE_MILLIS);
      expect(organization.wrongPasswords - before).to.equal(1);
    });
  });
}
