import { randomUUID } from "node:crypto";

import { expect } from "chai";

import type { Rail } from "../../../src/domain/transaction.js";
import { toCents } from "../../../src/domain/values/cents.js";
import { getAdmin } from "../../support/callers/served-metrics.js";
import { ENGINES_OF_STAGE } from "../../support/databases.js";
import { eventually } from "../../support/eventually.js";
import { setPayouts } from "../../support/operations/rails.js";
import { Receiver } from "../../support/webhooks/receiver.js";
import { RailWorld } from "./world.js";

const FLOAT_MIN_CENTS = 500_00;

for (const engine of ENGINES_OF_STAGE) {
  describe(`a float that runs low at M-Pesa (${engine})`, () => {
    let world: RailWorld;
    let receiver: Receiver;
    before(async () => {
      const float = { floatMinCents: toCents(FLOAT_MIN_CENTS), utilityCents: 499_99 };
      world = await RailWorld.start(engine, 1, { ...float, credentialsEndInDays: 15 });
      receiver = await Receiver.start();
    });
    after(async () => {
      await receiver.close();
      await world.dispose();
    });

    it("is an event, a webhook and a metric once, as are credentials that end in 14 days, and ends at 120 %", async () => {
      const business = world.business(0);
      const { key } = business;
      const body = { url: receiver.url, types: ["rail.*"] };
      expect((await world.rest.send("POST", "/webhook-endpoints", { key, body })).status).to.equal(201);
      const events = async (): Promise<readonly Readonly<Record<string, unknown>>[]> =>
        (await world.rest.send("GET", "/events?types=rail.warned&types=rail.cleared", { key })).json["events"] as never;
      const balanceIs = async (utilityCents: number): Promise<void> => {
        world.setMpesa(business, { utilityCents });
        await world.askBalance(business, randomUUID());
        await world.pass(10_000);
        await eventually(async () => {
          const [row] = await world.rows<{ question: string | null }>(
            "SELECT balance_question AS question FROM rail_accounts",
          );
          return row?.question === null;
        });
      };

      await world.pass(25 * 3_600_000);
      for (const cents of [499_99, 300_00, 599_99]) await balanceIs(cents);
      await eventually(async () => (await events()).length === 2);
      const codes = (await events()).map(({ rail_warning: warning }) => (warning as { code: string }).code);
      expect(codes).to.have.members(["FLOAT_LOW", "CREDENTIALS_EXPIRE"]);
      const low = { rail: "mpesa", code: "FLOAT_LOW", float_min: 500, rail_code: null };
      const [lowEvent] = (await events()).filter((_, index) => codes[index] === "FLOAT_LOW");
      expect(lowEvent).to.include({ type: "rail.warned", actor: "mpesa" });
      expect(lowEvent?.["rail_warning"]).to.deep.include({ ...low, available: 499.99 });
      const { text } = await getAdmin(world.adminAddress, "/metrics");
      expect(text).to.contain('kesc_rail_warnings{cell="0",code="FLOAT_LOW"} 1');
      expect(text).to.contain('kesc_rail_warnings{cell="0",code="CREDENTIALS_EXPIRE"} 1');

      await balanceIs(600_00);
      await eventually(() => receiver.received.length === 3);
      const told = receiver.received.map(({ json }) => json);
      expect(told.map(({ type }) => type)).to.have.members(["rail.warned", "rail.warned", "rail.cleared"]);
      const cleared = told.find(({ type }) => type === "rail.cleared");
      expect(cleared?.data["rail_warning"]).to.deep.include({ ...low, available: 600 });
      expect(await world.findings()).to.deep.equal([]);
    });

    it("or payouts that are closed: the warning is an event, and each payout that waits says why", async () => {
      const { key, organizationId } = world.business(0);
      const rail = "mpesa" as Rail;
      const post = async (path: string, body: object) => (await world.rest.send("POST", path, { key, body })).json;
      const { id: account_id } = await post("/accounts", { user_id: "amina", phone_number: "0712345600" });
      await post("/transactions/mint", { account_id, amount: 100, reference: "in", rail: "direct" });
      await world.commit(setPayouts(organizationId, "closed", { rail }));
      const { id } = await post("/transactions/redeem", { account_id, amount: 100, reference: "out", rail });
      const payment = async () => (await world.rest.send("GET", `/transactions/${String(id)}/payment`, { key })).json;
      await eventually(async () => (await payment())["held_reason"] === "payouts_closed");
      expect(await payment()).to.include({ state: "ready", send_count: 0 });
      const frozen = await post(`/accounts/${String(account_id)}/freeze`, { reason: "fraud" });
      await world.commit(setPayouts(organizationId, "auto", { rail }));
      await eventually(async () => (await payment())["last_code"] === "ACCOUNT_FROZEN");
      expect(await payment()).to.include({ state: "ready", send_count: 0, held_reason: "account_frozen" });
      const { id: freeze_id } = frozen["freeze"] as { id: string };
      await post(`/accounts/${String(account_id)}/unfreeze`, { freeze_id });
      // The clock stands: nothing but the end of the freeze lets it begin.
      await eventually(async () => (await payment())["state"] !== "ready");
      await eventually(async () => (await payment())["last_code"] === null);
      expect(await payment()).to.include({ send_count: 1, held_reason: null });

      const { json } = await world.rest.send("GET", "/events?types=rail.warned&types=rail.cleared", { key });
      const events = json["events"] as readonly { type: string; rail_warning: { code: string } }[];
      const held = events.filter(({ rail_warning: { code } }) => code === "PAYOUTS_HELD");
      expect(held.map(({ type }) => type)).to.deep.equal(["rail.warned", "rail.cleared"]);
      expect(held[0]?.rail_warning).to.deep.include({ held_reason: "payouts_closed", unknown_payouts: null });
    });
  });
}
