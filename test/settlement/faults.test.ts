import { expect } from "chai";

import { toUnixMillis } from "../../src/domain/values/time.js";
import type { RailFault, RailReport, Sent } from "../../src/rails/rail.js";
import { heldReasonOf } from "../../src/settlement/unknown-payouts.js";
import { RAIL_TERMS } from "../support/names.js";
import { ACCEPTED, failedWith, OPEN, paid } from "./support/scripted-rail.js";
import { HOUR_MILLIS, MINUTE_MILLIS, World } from "./support/world.js";

const INITIATOR: RailFault = { kind: "credentials", credential: "initiator", code: "2001" };
const APP: RailFault = { kind: "credentials", credential: "app", code: "400.008.01" };
const QUESTION: RailFault = { kind: "request", request: "/status", code: "NO_RESPONSE_CODE" };

describe("the settlement, about what no new request mends", () => {
  let world: World;

  beforeEach(async () => {
    world = new World();
    await world.open();
  });

  afterEach(() => world.stop());

  const refused = () => world.events.filter(({ kind }) => kind === "credentials refused");

  it("uses a credential no more that the rail has refused, and says so once; mints go on", async () => {
    const first = await world.redeem();
    await world.start();
    await world.message(first, { ...failedWith(first), fault: INITIATOR }, "pay_out");
    expect(world.refusals).to.deep.equal([{ credential: "initiator", code: "2001" }]);
    expect(world.rail.asked).to.deep.equal([]);
    const [next, mint] = [await world.redeem(), await world.mint()];
    await world.pass(3 * HOUR_MILLIS);
    expect(world.rail.sent).to.deep.equal([first, mint]);
    expect(world.rail.asked.filter(({ direction }) => direction === "REDEEM")).to.deep.equal([]);
    expect([world.stateOf(first), world.stateOf(next)]).to.deep.equal(["ACCEPTED PROCESSING", "READY PENDING"]);
    expect(refused()).to.deep.equal([
      { kind: "credentials refused", railAccountId: RAIL_TERMS.railAccountId, credential: "initiator", code: "2001" },
    ]);
  });

  it("asks about each open payment once the account is set again, and sends the others", async () => {
    const [open, called] = [await world.redeem(), await world.redeem()];
    await world.start();
    await world.message(open, { kind: "open", code: "21", fault: { ...INITIATOR, code: "21" } }, "pay_out");
    await world.message(called, paid(called, { receipt: "R1" }), "pay_out");
    // Nobody can confirm it now, so a person looks.
    expect(world.stateOf(called)).to.equal("ACCEPTED PROCESSING OUTCOME_UNKNOWN");
    const waiting = await world.redeem();
    await world.pass(10 * MINUTE_MILLIS);
    world.disk.changeRail(world.organizationId, RAIL_TERMS.railAccountId);
    world.set({ revision: 1, changedAt: world.timing.now() });
    world.rail.onQuery = ({ transactionId }) =>
      Promise.resolve(transactionId === open ? failedWith(open) : paid(transactionId));
    await world.pass(6 * MINUTE_MILLIS);
    expect([open, called, waiting].map((id) => world.stateOf(id))).to.deep.equal([
      "ENDED FAILED",
      "ENDED COMPLETED",
      "ENDED COMPLETED",
    ]);
    expect(world.rail.sent).to.deep.equal([open, called, waiting]);
  });

  it("lets a person look at a payout after 48 hours that nobody could ask about", async () => {
    const id = await world.redeem();
    await world.start();
    world.set({ refused: "initiator" });
    await world.pass(49 * HOUR_MILLIS);
    expect([world.stateOf(id), world.heldCents]).to.deep.equal(["ACCEPTED PROCESSING OUTCOME_UNKNOWN", 100_00]);
    expect(world.rail.asked).to.deep.equal([]);
  });

  it("uses none that another server has seen refused, and shows why a payout waits", async () => {
    world.set({ refused: "initiator" });
    const id = await world.redeem();
    await world.start();
    await world.pass(10 * MINUTE_MILLIS);
    expect([world.rail.sent, world.stateOf(id)]).to.deep.equal([[], "READY PENDING"]);
    const [account] = world.accounts.values();
    const payment = world.payments.find(id);
    if (account === undefined || payment === undefined) throw new Error("there is no payment");
    const asked = { payment, isFrozen: true, now: world.timing.now() };
    expect(await heldReasonOf(world.payments, account, asked)).to.equal("CREDENTIALS_REFUSED");
  });

  it("sends and asks nothing at all without the app's credential", async () => {
    world.rail.onSend = () =>
      Promise.resolve({ kind: "unreached", code: "TOKEN", retryAfterMillis: 1_000, fault: APP } as Sent);
    const id = await world.mint();
    await world.start();
    const [payout, mint] = [await world.redeem(), await world.mint()];
    await world.pass(MINUTE_MILLIS);
    expect(world.rail.sent).to.deep.equal([id]);
    await world.pass(5 * MINUTE_MILLIS);
    expect([id, mint].map((each) => world.transaction(each)?.failure)).to.deep.equal(["EXPIRED", "EXPIRED"]);
    expect([world.rail.sent, world.stateOf(payout)]).to.deep.equal([[id], "READY PENDING"]);
  });

  it("takes no late result for a refusal of the credential that was set since", async () => {
    const id = await world.redeem();
    await world.start();
    await world.pass(MINUTE_MILLIS);
    world.set({ changedAt: world.timing.now() });
    const late: RailReport = { kind: "open", code: "2001", fault: INITIATOR };
    for (const purpose of ["pay_out", "status"] as const) {
      await world.message(id, { ...late, code: purpose }, purpose);
    }
    expect(world.refusals).to.deep.equal([]);
    world.set({ changedAt: toUnixMillis(world.timing.now() - 2 * MINUTE_MILLIS) });
    await world.message(id, late, "status");
    expect(world.refusals).to.have.length(1);
  });

  it("tells at once of a request that is wrong, in the log once an hour, and goes on asking", async () => {
    const id = await world.redeem();
    world.rail.onSend = () => Promise.resolve(ACCEPTED);
    world.rail.onQuery = () => Promise.resolve({ ...OPEN, fault: QUESTION } as RailReport);
    await world.start();
    await world.pass(80_000);
    const told = () => world.events.filter(({ kind }) => kind === "request refused");
    expect(told()).to.deep.equal([
      {
        kind: "request refused",
        railAccountId: RAIL_TERMS.railAccountId,
        request: "/status",
        code: "NO_RESPONSE_CODE",
      },
    ]);
    expect(world.refusals).to.deep.equal([{ request: "/status", code: "NO_RESPONSE_CODE" }]);
    await world.pass(40 * MINUTE_MILLIS);
    expect([told().length, world.rail.asked.length > 2]).to.deep.equal([1, true]);
    await world.message(id, paid(id, { receipt: "R1" }), "status");
    expect(world.stateOf(id)).to.equal("ENDED COMPLETED");
  });
});
