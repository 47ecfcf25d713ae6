import { expect } from "chai";

import { fresh } from "../support/service/each-engine.js";
import { WithRails } from "../support/service/with-rails.js";

const HOUR_MILLIS = 3_600_000;

describe("a phone number that was changed less than a day ago, the default of KESC_PHONE_COOLING_HOURS", () => {
  let service: WithRails;
  before(async () => {
    service = await WithRails.start();
  });
  after(() => service.dispose());

  /** An account with 100.00 KESC. */
  async function fundedAccount(): Promise<string> {
    const id = await service.newAccount();
    const body = { account_id: id, amount: 100, reference: fresh("ref"), rail: "direct" };
    expect((await service.post("/transactions/mint", body)).status).to.equal(201);
    return id;
  }

  const move = (name: "mint" | "redeem", account_id: string, rail: string) =>
    service.post(`/transactions/${name}`, { account_id, amount: 10, reference: fresh("ref"), rail });

  it("cannot be paid out to, and everything else goes on", async () => {
    const id = await fundedAccount();
    expect((await move("redeem", id, "sandbox")).status).to.equal(201);
    const before = Date.now();
    expect((await service.patch(`/accounts/${id}`, { phone_number: "0733111222" })).status).to.equal(200);

    const refused = await move("redeem", id, "sandbox");
    expect(refused.json).to.include({ status: 422, code: "PHONE_NUMBER_COOLING", account_id: id });
    const until = Date.parse(String(refused.json["until"]));
    expect(until).to.be.within(before + 24 * HOUR_MILLIS, Date.now() + 24 * HOUR_MILLIS);

    expect((await move("redeem", id, "direct")).status).to.equal(201);
    expect((await move("mint", id, "sandbox")).status).to.equal(201);
  });

  it("can be paid out to after a change of the e-mail address alone", async () => {
    const id = await fundedAccount();
    expect((await service.patch(`/accounts/${id}`, { email: "amina@example.com" })).status).to.equal(200);
    expect((await move("redeem", id, "sandbox")).status).to.equal(201);
  });
});
