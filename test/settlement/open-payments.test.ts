import { expect } from "chai";

import { toCents } from "../../src/domain/values/cents.js";
import type { RailReport, Sent } from "../../src/rails/rail.js";
import { ACCEPTED, failedWith, OPEN, paid, REJECTED, UNKNOWN, UNREACHED } from "./support/scripted-rail.js";
import { HOUR_MILLIS, MINUTE_MILLIS, World } from "./support/world.js";

const DAY_MILLIS = 24 * HOUR_MILLIS;

describe("the settlement, about payments that the rail has or may have", () => {
  let world: World;

  beforeEach(async () => {
    world = new World();
    await world.open();
  });

  afterEach(() => world.stop());

  it("asks at 75 seconds, at 2, 5, 15 and 60 minutes, and then every hour", async () => {
    const id = await world.mint();
    const askedAt: number[] = [];
    const begunAt = world.timing.monotonicMillis();
    world.rail.onQuery = () => {
      askedAt.push(Math.floor((world.timing.monotonicMillis() - begunAt) / 1_000));
      return Promise.resolve(OPEN);
    };
    await world.start();
    await world.timing.pass(3 * HOUR_MILLIS + MINUTE_MILLIS);
    const minutes = askedAt.map((seconds) => Math.floor(seconds / 15) / 4);
    expect(minutes).to.deep.equal([1.25, 2, 5, 15, 60, 120, 180]);
    expect(world.payments.find(id)).to.include({ checks: 7, lastCode: "PENDING" });
  });

  it("books a success that a query finds, once", async () => {
    const id = await world.mint();
    world.rail.onQuery = ({ railReference }) => Promise.resolve(paid(String(railReference), { receipt: "R1" }));
    await world.start();
    await world.pass(MINUTE_MILLIS);
    expect(world.movedCents).to.equal(0);
    await world.pass(15_000);
    expect(world.stateOf(id)).to.equal("ENDED COMPLETED");
    expect(world.transaction(id)).to.include({ railMovement: "ref", railReceipt: "R1" });
    await world.pass(2 * DAY_MILLIS);
    expect([world.movedCents, world.rail.asked.length]).to.deep.equal([100_00, 1]);
  });

  it("releases the hold of a payout whose failure a query finds", async () => {
    const id = await world.redeem();
    world.rail.onQuery = ({ transactionId }) => Promise.resolve(failedWith(transactionId));
    await world.start();
    expect(world.heldCents).to.equal(100_00);
    await world.pass(80_000);
    expect([world.stateOf(id), world.heldCents]).to.deep.equal(["ENDED FAILED", 0]);
  });

  it("takes a success that names nothing for no proof", async () => {
    const id = await world.mint();
    world.rail.onQuery = () => Promise.resolve({ ...paid("x"), movement: undefined } as RailReport);
    await world.start();
    await world.pass(80_000);
    expect(world.stateOf(id)).to.equal("ACCEPTED PROCESSING");
    expect(world.payments.find(id)?.lastCode).to.equal("NO_PROOF");
  });

  for (const direction of ["mint", "redeem"] as const) {
    it(`flags a ${direction} whose outcome nobody knows after 48 hours, releases nothing, and asks once a day`, async () => {
      // The breaker would flag a payout sooner.
      world.set({ payouts: "open" });
      const id = await world[direction]();
      world.rail.onSend = () => Promise.resolve(direction === "mint" ? UNKNOWN : ACCEPTED);
      await world.start();
      await world.pass(47 * HOUR_MILLIS);
      expect(world.stateOf(id)).to.not.include("OUTCOME_UNKNOWN");
      await world.pass(2 * HOUR_MILLIS);
      expect(world.stateOf(id)).to.match(/PROCESSING OUTCOME_UNKNOWN$/);
      expect(world.heldCents).to.equal(direction === "mint" ? 0 : 100_00);
      const { length } = world.rail.asked;
      await world.pass(3 * DAY_MILLIS);
      expect(world.rail.asked).to.have.length(length + 3);
      world.rail.onQuery = ({ transactionId }) => Promise.resolve(paid(transactionId));
      await world.pass(DAY_MILLIS);
      expect(world.stateOf(id)).to.equal("ENDED COMPLETED");
      expect(world.events.filter(({ kind }) => kind === "outcome unknown")).to.have.length(1);
    });
  }

  for (const what of ["mint", "payTill"] as const) {
    it(`never sends a ${what} again by itself, whatever the rail does not know`, async () => {
      const id = await world[what]();
      world.rail.onSend = () => Promise.resolve(UNKNOWN);
      await world.start();
      await world.pass(3 * DAY_MILLIS);
      expect(world.rail.sent).to.deep.equal([id]);
      expect(world.disk.transactions.get(id)?.openFlags).to.deep.equal(["OUTCOME_UNKNOWN"]);
    });
  }

  it("sends a payout again with the same id, after two queries, and not after 10 minutes", async () => {
    const id = await world.redeem();
    const [asked, sentAt]: [number[], number[]] = [[], []];
    world.rail.onSend = () => {
      asked.push(world.rail.asked.length);
      sentAt.push(Math.floor(world.timing.monotonicMillis() / MINUTE_MILLIS));
      return Promise.resolve(UNKNOWN);
    };
    await world.start();
    await world.pass(59 * MINUTE_MILLIS);
    expect(new Set(world.rail.sent)).to.deep.equal(new Set([id]));
    expect(asked).to.deep.equal([0, 2, 3]);
    expect(sentAt).to.deep.equal([0, 2, 5]);
  });

  for (const purpose of ["pay_out", "timeout"] as const) {
    it(`never sends a payout again about which a message came at the address ${purpose}`, async () => {
      const id = await world.redeem();
      world.rail.onSend = () => Promise.resolve(UNKNOWN);
      await world.start();
      await world.message(id, { kind: "open", code: "QUEUE_TIMEOUT" }, purpose);
      await world.pass(59 * MINUTE_MILLIS);
      // After 15 minutes it holds other payouts back.
      expect([world.rail.sent, world.stateOf(id)]).to.deep.equal([[id], "ACCEPTED PROCESSING OUTCOME_UNKNOWN"]);
      expect(world.rail.asked).to.have.length.at.least(4);
    });
  }

  it("sends a payout again whose status query knows nothing of it: its answer is no message of the rail", async () => {
    const id = await world.redeem();
    world.rail.onSend = () => Promise.resolve(UNKNOWN);
    await world.start();
    await world.message(id, { kind: "open", code: "R000002" }, "status");
    await world.pass(3 * MINUTE_MILLIS);
    expect(world.rail.sent).to.deep.equal([id, id]);
  });

  for (const answer of [REJECTED, UNREACHED]) {
    it(`lets a payout be that is ${answer.kind} when it is sent again: the first request may have arrived`, async () => {
      const id = await world.redeem();
      const answers: Sent[] = [UNKNOWN];
      world.rail.onSend = () => Promise.resolve(answers.shift() ?? answer);
      await world.start();
      await world.pass(3 * MINUTE_MILLIS);
      expect(world.rail.sent).to.have.length(2);
      expect([world.stateOf(id), world.heldCents]).to.deep.equal(["SENDING PROCESSING", 100_00]);
    });
  }

  it("sends nothing again in a restored book", async () => {
    const id = await world.redeem();
    world.rail.onSend = () => Promise.resolve(UNKNOWN);
    await world.start();
    world.disk.setState(world.organizationId, "RESTORED");
    await world.pass(30 * MINUTE_MILLIS);
    expect([world.rail.sent, world.rail.asked.length]).to.deep.equal([[id], 4]);
    expect(world.payments.find(id)).to.include({ state: "SENDING", sends: 1, lastCode: "PENDING" });
  });

  it("takes a payout for accepted that the rail knows when it is sent again", async () => {
    const id = await world.redeem();
    const answers: Sent[] = [UNKNOWN];
    world.rail.onSend = () => Promise.resolve(answers.shift() ?? ACCEPTED);
    await world.start();
    await world.pass(3 * MINUTE_MILLIS);
    expect(world.stateOf(id)).to.equal("ACCEPTED PROCESSING");
  });

  it("sends nothing again to which a query has an answer", async () => {
    const id = await world.redeem();
    world.rail.onSend = () => Promise.resolve(UNKNOWN);
    world.rail.onQuery = ({ transactionId }) => Promise.resolve(paid(transactionId, { receipt: "R1" }));
    await world.start();
    await world.pass(3 * MINUTE_MILLIS);
    expect([world.stateOf(id), world.rail.sent]).to.deep.equal(["ENDED COMPLETED", [id]]);
  });

  it("leaves a payment open whose report differs from the order, and looks once a day", async () => {
    const id = await world.mint();
    world.rail.onQuery = () => Promise.resolve(paid("ref", { amountCents: toCents(1) }));
    await world.start();
    await world.pass(80_000);
    expect([world.stateOf(id), world.movedCents]).to.deep.equal(["ACCEPTED PROCESSING REPORT_DIFFERS", 0]);
    await world.pass(3 * DAY_MILLIS);
    expect(world.rail.asked).to.have.length(4);
  });

  it("looks at a payment that another server left SENDING, with a query first", async () => {
    const id = await world.mint();
    world.rail.onSend = () => new Promise<Sent>(() => undefined);
    await world.start();
    expect(world.stateOf(id)).to.equal("SENDING PROCESSING");
    world.rail.onQuery = () => Promise.resolve(paid("ref"));
    await world.start();
    await world.pass(2 * MINUTE_MILLIS);
    expect([world.stateOf(id), world.rail.sent]).to.deep.equal(["ENDED COMPLETED", [id]]);
  });
});
