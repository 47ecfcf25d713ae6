import { expect } from "chai";

import type { RailAccountId } from "../../src/domain/payment.js";
import { DIRECT_RAIL } from "../../src/domain/transaction.js";
import type { Sent } from "../../src/rails/rail.js";
import { heldReasonOf } from "../../src/settlement/unknown-payouts.js";
import { RAIL_TERMS } from "../support/names.js";
import { freezeAccount, unfreezeAccount } from "../support/operations/accounts.js";
import { beginPayment, cancel } from "../support/operations/transactions.js";
import { settled } from "./support/manual-timing.js";
import { ACCEPTED, paid, REJECTED, ScriptedRail, UNKNOWN, UNREACHED } from "./support/scripted-rail.js";
import { HOUR_MILLIS, MINUTE_MILLIS, World } from "./support/world.js";

const BLOCKED_PAYOUTS = 1_000;

describe("the settlement, when it begins a payment", () => {
  let world: World;

  beforeEach(async () => {
    world = new World();
    await world.open();
  });

  afterEach(() => world.stop());

  it("asks the rail only after the begin is on disk", async () => {
    const id = await world.mint();
    world.rail.onSend = () => {
      expect(world.stateOf(id)).to.equal("SENDING PROCESSING");
      return Promise.resolve(ACCEPTED);
    };
    await world.start();
    expect(world.rail.sent).to.deep.equal([id]);
    expect(world.stateOf(id)).to.equal("ACCEPTED PROCESSING");
    expect(world.payments.find(id)).to.include({ railReference: "ref", sends: 1 });
    expect(world.payments.find(id)?.dueAt).to.equal(world.timing.now() + 75_000);
  });

  it("begins no payout of a rail whose payouts a person takes to a bank", async () => {
    Object.assign(world.rail, { writeFile: () => Buffer.alloc(0) });
    const id = await world.redeem();
    await world.start();
    await world.pass(HOUR_MILLIS);
    expect(world.rail.sent).to.deep.equal([]);
    expect(world.stateOf(id)).to.equal("READY PENDING");
  });

  for (const answer of ["STORAGE_UNAVAILABLE", "DEADLINE_EXCEEDED", "QUEUE_FULL", "SHUTTING_DOWN"] as const) {
    it(`asks no rail if the ledger answers to the begin with ${answer}, whether it was committed or not`, async () => {
      const [committed, lost] = [await world.redeem(), await world.redeem()];
      world.intercept = async (command, commit) => {
        if (command.name !== "beginPayment") return commit();
        if (command.transactionId === committed) await commit();
        return { kind: "refused", refusal: { reason: answer } };
      };
      await world.start();
      expect(world.rail.sent).to.deep.equal([]);
      expect([world.stateOf(committed), world.stateOf(lost)]).to.deep.equal(["SENDING PROCESSING", "READY PENDING"]);
      // The begin was committed, so the order may have been sent. The rail is asked about it first.
      world.intercept = (_command, commit) => commit();
      world.rail.onSend = (order) => {
        if (order.transactionId === committed) expect(world.rail.asked).to.have.length.at.least(2);
        return Promise.resolve(ACCEPTED);
      };
      await world.pass(3 * MINUTE_MILLIS);
      expect(world.rail.sent).to.have.members([committed, lost]);
    });
  }

  it("begins only under the account at the rail as it is now, and reads it again if it has changed", async () => {
    const old = world.rail;
    const moved = new ScriptedRail();
    const id = await world.redeem();
    // Somebody has changed the account, and this server has read it before.
    world.disk.changeRail(world.organizationId, RAIL_TERMS.railAccountId);
    world.refresh = () => {
      world.addRailAccount(RAIL_TERMS.railAccountId, moved, { revision: 1 });
      return Promise.resolve();
    };
    await world.start();
    expect(world.stateOf(id)).to.equal("READY PENDING");
    await world.pass(6_000);
    expect([old.sent, moved.sent]).to.deep.equal([[], [id]]);
    expect(world.stateOf(id)).to.equal("ACCEPTED PROCESSING");
  });

  it("sends a payout again only under the account at the rail as it is now", async () => {
    world.rail.onSend = () => Promise.resolve(UNKNOWN);
    const id = await world.redeem();
    await world.start();
    world.disk.changeRail(world.organizationId, RAIL_TERMS.railAccountId);
    world.refresh = () => {
      world.set({ revision: 1 });
      return Promise.resolve();
    };
    world.rail.onSend = () => {
      expect(world.accounts.get(RAIL_TERMS.railAccountId)?.revision).to.equal(1);
      return Promise.resolve(ACCEPTED);
    };
    await world.pass(5 * MINUTE_MILLIS);
    expect(world.rail.sent).to.deep.equal([id, id]);
    expect(world.stateOf(id)).to.equal("ACCEPTED PROCESSING");
  });

  it("asks no rail if the answer to the begin is a replay", async () => {
    const id = await world.mint();
    world.intercept = async (_command, commit) => {
      const outcome = await commit();
      return outcome.kind === "done" ? { ...outcome, replayed: true } : outcome;
    };
    await world.start();
    expect([world.rail.sent, world.stateOf(id)]).to.deep.equal([[], "SENDING PROCESSING"]);
  });

  it("is granted one begin of two settlements that look at once", async () => {
    const id = await world.redeem();
    const [one, other] = [world.newSettlement(), world.newSettlement()];
    one.start();
    other.start();
    await settled();
    expect(world.submitted.filter((name) => name === "beginPayment")).to.have.length(2);
    expect(world.rail.sent).to.deep.equal([id]);
    await world.pass(MINUTE_MILLIS);
    expect(world.rail.sent).to.deep.equal([id]);
  });

  it("waits where the account was frozen after the acceptance, and lets it be canceled", async () => {
    const [id, canceled] = [await world.redeem(), await world.redeem()];
    const freeze = freezeAccount(world.organizationId, world.accountId);
    await world.commit(freeze);
    await world.start();
    expect([world.rail.sent, world.stateOf(id)]).to.deep.equal([[], "READY PENDING"]);
    expect(world.payments.find(id)).to.include({ lastCode: "ACCOUNT_FROZEN", checks: 0 });
    await world.commit(cancel(world.organizationId, canceled));
    await world.commit(unfreezeAccount(world.organizationId, world.accountId, freeze.newFreezeId));
    await world.pass(4 * MINUTE_MILLIS);
    // Nobody has woken it: the settlement looks by itself.
    expect(world.rail.sent).to.deep.equal([]);
    await world.payments.wakeHeld(world.organizationId, world.timing.now());
    await world.pass(1_000);
    expect(world.rail.sent).to.deep.equal([id]);
    expect(world.payments.find(id)).to.include({ state: "ACCEPTED", lastCode: undefined });
  });

  it("sends nothing for a row that somebody has changed, looks at it again minutes later, and sends the others", async () => {
    const [changed, sound] = [await world.redeem(), await world.redeem()];
    const row = world.disk.payments.get(changed);
    if (row === undefined) throw new Error("there is no payment");
    // What the database gives of an order whose number cannot be read, or whose amount is another.
    (world.disk.payments as Map<string, typeof row>).set(changed, { ...row, number: undefined });
    await world.start();
    await world.pass(MINUTE_MILLIS);
    expect(world.rail.sent).to.deep.equal([sound]);
    expect(world.payments.find(changed)).to.include({ state: "READY", lastCode: "ROW_CHANGED" });
    const told = world.events.filter(({ kind }) => kind === "blocked");
    expect(told).to.deep.equal([{ kind: "blocked", transactionId: changed, code: "ROW_CHANGED" }]);
  });

  it("begins nothing in a restored book, ends nothing by time, and still asks about what was begun", async () => {
    world.set({ payouts: "open" });
    const begun = await world.redeem();
    await world.start();
    world.disk.setState(world.organizationId, "RESTORED");
    const [mint, payout] = [await world.mint(), await world.redeem()];
    await world.pass(30 * MINUTE_MILLIS);
    expect(world.rail.sent).to.deep.equal([begun]);
    expect(world.rail.asked.map(({ transactionId }) => transactionId))
      .to.include(begun)
      .and.not.include(payout);
    expect([world.stateOf(mint), world.stateOf(payout)]).to.deep.equal(["READY PENDING", "READY PENDING"]);
    world.disk.setState(world.organizationId, "OPEN");
    await world.pass(5 * MINUTE_MILLIS);
    expect(world.rail.sent).to.deep.equal([begun, payout]);
    expect(world.transaction(mint)).to.include({ status: "FAILED", failure: "EXPIRED" });
  });

  it("begins nothing for a suspended organization", async () => {
    const id = await world.redeem();
    world.disk.setSuspended(world.organizationId, true);
    await world.start();
    await world.pass(4 * MINUTE_MILLIS);
    expect([world.rail.sent, world.payments.find(id)?.lastCode]).to.deep.equal([[], "ORGANIZATION_SUSPENDED"]);
  });

  it("ends a mint that was not begun in time, and no redemption", async () => {
    const [mint, payout] = [await world.mint(), await world.redeem()];
    world.timing.jump(2 * MINUTE_MILLIS);
    await world.start();
    expect(world.transaction(mint)).to.include({ status: "FAILED", failure: "EXPIRED" });
    expect(world.rail.sent).to.deep.equal([payout]);
  });

  it("sends an order that did not reach the rail, later and with a begin of its own", async () => {
    const id = await world.mint();
    world.rail.onSend = () => Promise.resolve(world.rail.sent.length < 3 ? UNREACHED : ACCEPTED);
    await world.start();
    expect(world.stateOf(id)).to.equal("READY PROCESSING");
    await world.pass(9_000);
    expect(world.rail.sent).to.have.length(1);
    await world.pass(1_500);
    expect(world.rail.sent).to.have.length(2);
    await world.pass(21_000);
    expect(world.payments.find(id)).to.include({ state: "ACCEPTED", sends: 3 });
    expect(world.rail.asked).to.deep.equal([]);
  });

  it("ends a mint whose order never reached the rail once its time is over", async () => {
    const id = await world.mint();
    world.rail.onSend = () => Promise.resolve(UNREACHED);
    await world.start();
    await world.pass(2 * MINUTE_MILLIS + 1_000);
    expect(world.transaction(id)).to.include({ status: "FAILED", failure: "EXPIRED" });
  });

  it("sends a mint at most once more that the rail turned away, and flags that it expired", async () => {
    world.set({ beginWithinMillis: 60 * MINUTE_MILLIS });
    const id = await world.mint();
    world.rail.onSend = () => Promise.resolve({ ...UNREACHED, isTurnedAway: true } as Sent);
    await world.start();
    await world.pass(59 * MINUTE_MILLIS);
    expect([world.rail.sent, world.stateOf(id)]).to.deep.equal([[id, id], "READY PROCESSING"]);
    await world.pass(2 * MINUTE_MILLIS);
    expect(world.transaction(id)).to.include({ status: "FAILED", failure: "EXPIRED" });
    expect(world.stateOf(id)).to.equal("ENDED FAILED OUTCOME_UNKNOWN");
  });

  it("never sends a payout to a till again that the rail turned away, which proves nothing", async () => {
    const id = await world.payTill();
    world.rail.onSend = () => Promise.resolve({ ...UNREACHED, isTurnedAway: true } as Sent);
    await world.start();
    await world.pass(60 * MINUTE_MILLIS);
    expect([world.rail.sent, world.payments.find(id)?.state]).to.deep.equal([[id], "SENDING"]);
  });

  it("sends a payout that the rail turned away until it is taken: it has an id there", async () => {
    await world.redeem();
    world.rail.onSend = () => Promise.resolve({ ...UNREACHED, isTurnedAway: true } as Sent);
    await world.start();
    await world.pass(10 * MINUTE_MILLIS);
    expect(world.rail.sent).to.have.length.above(2);
  });

  it("sends it no more after an hour, flags it, and asks the rail, because the rail may forget the id", async () => {
    const id = await world.redeem();
    world.rail.onSend = () => Promise.resolve({ ...UNREACHED, isTurnedAway: true } as Sent);
    await world.start();
    await world.pass(61 * MINUTE_MILLIS);
    const { length } = world.rail.sent;
    world.rail.onSend = () => Promise.resolve(ACCEPTED);
    await world.pass(9 * MINUTE_MILLIS);
    expect(world.rail.sent).to.have.length(length);
    expect(world.stateOf(id)).to.equal("READY PROCESSING OUTCOME_UNKNOWN");
    expect(world.heldCents).to.equal(100_00);
    world.rail.onQuery = () => Promise.resolve(paid(id));
    await world.pass(HOUR_MILLIS);
    expect(world.stateOf(id)).to.equal("ENDED COMPLETED");
  });

  for (const direction of ["mint", "redeem"] as const) {
    it(`sends no ${direction} again that seemed not to arrive once a message about it came`, async () => {
      const id = await world[direction]();
      world.rail.onSend = () => Promise.resolve({ ...UNREACHED, isTurnedAway: true } as Sent);
      await world.start();
      await world.message(id, { kind: "open", code: "PENDING" }, direction === "mint" ? "collect" : "timeout");
      await world.pass(10 * MINUTE_MILLIS);
      expect([world.rail.sent, world.stateOf(id)]).to.deep.equal([[id], "ACCEPTED PROCESSING"]);
    });
  }

  it("ends an order that the rail rejected, if it was the first request", async () => {
    const id = await world.redeem();
    world.rail.onSend = () => Promise.resolve(REJECTED);
    await world.start();
    expect(world.transaction(id)).to.include({ status: "FAILED", failure: "WRONG_PIN", statusReason: "2001" });
    expect(world.heldCents).to.equal(0);
  });

  it("does not take a rejection for the end of an order that was sent before", async () => {
    const id = await world.redeem();
    const answers: Sent[] = [UNREACHED, REJECTED];
    world.rail.onSend = () => Promise.resolve(answers.shift() ?? ACCEPTED);
    await world.start();
    await world.pass(20_000);
    expect(world.rail.sent).to.have.length(2);
    expect(world.stateOf(id)).to.equal("SENDING PROCESSING");
  });

  it("gives the permission back if the lease ended between the begin and the call", async () => {
    const id = await world.mint();
    world.intercept = (command, commit) => {
      if (command.name === "beginPayment") world.leaseLeftMillis = 24_999;
      return commit();
    };
    await world.start();
    expect([world.rail.sent, world.stateOf(id)]).to.deep.equal([[], "READY PROCESSING"]);
    world.leaseLeftMillis = 25_000;
    world.intercept = (_command, commit) => commit();
    await world.pass(1_000);
    expect(world.rail.sent).to.deep.equal([id]);
  });

  it("does not call the rail, nor says that it did not, if it stood still after the begin: another may have", async () => {
    const id = await world.redeem();
    world.intercept = async (command, commit) => {
      const outcome = await commit();
      // The lease seems to be there still: the monotonic clock stood still, too.
      if (command.name === "beginPayment") world.timing.jump(45_000);
      return outcome;
    };
    await world.start();
    expect([world.rail.sent, world.stateOf(id)]).to.deep.equal([[], "SENDING PROCESSING"]);
    expect(world.submitted).to.deep.equal(["beginPayment"]);
  });

  for (const answer of [UNREACHED, REJECTED]) {
    it(`believes no answer that is ${answer.kind} about an order that another server has sent since`, async () => {
      const id = await world.redeem();
      world.rail.onSend = () => Promise.resolve(answer);
      world.intercept = async (command, commit) => {
        if (command.name !== "beginPayment") {
          await world.commit({ ...beginPayment(world.organizationId, id), isAgain: true });
        }
        return commit();
      };
      await world.start();
      expect(world.submitted).to.have.length(2);
      expect([world.stateOf(id), world.heldCents]).to.deep.equal(["SENDING PROCESSING", 100_00]);
    });
  }

  it("stores what the rail says although the lease is lost amid the call", async () => {
    const [id, next] = [await world.mint(), await world.mint({ cents: 5_00 as never })];
    world.rail.onSend = async () => {
      world.leaseLeftMillis = 0;
      await settled();
      return ACCEPTED;
    };
    world.intercept = async (command, commit) => {
      // The second begin waits in the queue until the lease is lost.
      if (command.name === "beginPayment" && command.transactionId === next) await settled();
      return commit();
    };
    await world.start();
    await settled();
    expect(world.stateOf(id)).to.equal("ACCEPTED PROCESSING");
    expect(world.rail.sent).to.deep.equal([id]);
    expect(world.stateOf(next)).to.equal("READY PROCESSING");
  });

  it("takes an answer after the deadline of the call for unknown", async () => {
    const id = await world.redeem();
    world.rail.onSend = () => new Promise<Sent>(() => undefined);
    await world.start();
    await world.pass(19_000);
    expect(world.events).to.deep.equal([]);
    await world.pass(1_000);
    expect(world.events).to.deep.include({
      kind: "sent",
      transactionId: id,
      railAccountId: "rail account",
      result: "unknown",
      code: "NO_ANSWER",
    });
    expect(world.stateOf(id)).to.equal("SENDING PROCESSING");
  });

  it("tries again to store an answer that the ledger did not take", async () => {
    const id = await world.mint();
    let refusals = 2;
    world.intercept = (command, commit) => {
      if (command.name !== "acceptPayment" || refusals === 0) return commit();
      refusals -= 1;
      return Promise.resolve({ kind: "refused", refusal: { reason: "STORAGE_UNAVAILABLE" } });
    };
    await world.start();
    await world.pass(6_000);
    expect([world.stateOf(id), world.rail.sent]).to.deep.equal(["ACCEPTED PROCESSING", [id]]);
  });

  it("stops in its grace period, and leaves what it does not know for another server", async () => {
    const [slow, quick] = [await world.redeem(), await world.redeem()];
    world.rail.onSend = async ({ transactionId }) => {
      if (transactionId === slow) return new Promise<Sent>(() => undefined);
      await world.timing.wait(5_000, new AbortController().signal);
      return ACCEPTED;
    };
    const settlement = await world.start();
    const later = await world.mint();
    const stopped = settlement.stop(10_000);
    await world.pass(10_000);
    await stopped;
    expect([world.stateOf(slow), world.stateOf(quick)]).to.deep.equal(["SENDING PROCESSING", "ACCEPTED PROCESSING"]);
    expect([world.stateOf(later), world.rail.sent.length]).to.deep.equal(["READY PENDING", 2]);
  });

  it("lets 1,000 payouts that are stopped delay no mint", async () => {
    world.set({ payouts: "closed" });
    for (let payouts = 0; payouts < BLOCKED_PAYOUTS; payouts += 1) await world.redeem({ cents: 1_00 as never });
    const mint = await world.mint();
    await world.start();
    expect(world.rail.sent).to.deep.equal([mint]);
  });

  it("begins a mint that was given back while payouts are stopped", async () => {
    world.set({ payouts: "closed" });
    await world.redeem();
    const mint = await world.mint();
    let refusals = 1;
    world.intercept = (command, commit) => {
      if (command.name !== "beginPayment" || (refusals -= 1) < 0) return commit();
      return Promise.resolve({ kind: "refused", refusal: { reason: "QUEUE_FULL" } });
    };
    await world.start();
    expect(world.rail.sent).to.deep.equal([]);
    await world.pass(11_000);
    expect(world.rail.sent).to.deep.equal([mint]);
  });

  it("fills the room at a rail account again as soon as calls have ended", async () => {
    const answers: ((sent: Sent) => void)[] = [];
    world.rail.onSend = () => new Promise((resolve) => answers.push(resolve));
    for (let orders = 0; orders < 40; orders += 1) await world.mint();
    await world.start();
    for (const answer of answers.splice(0)) answer(ACCEPTED);
    await settled();
    await settled();
    expect(world.rail.sent).to.have.length(40);
  });

  it("rests four times as long as a look took, however often it is woken", async () => {
    const settlement = await world.start();
    const accountsWithDue = world.payments.accountsWithDue.bind(world.payments);
    world.payments.accountsWithDue = (now) => {
      world.timing.jump(20);
      return accountsWithDue(now);
    };
    settlement.wake();
    await settled();
    const id = await world.mint();
    settlement.wake();
    await world.pass(79);
    expect(world.rail.sent).to.deep.equal([]);
    await world.pass(1);
    expect(world.rail.sent).to.deep.equal([id]);
  });

  it("lets a slow rail delay no other rail account, and has at most 32 calls under way at one", async () => {
    const other = "another rail account" as RailAccountId;
    const quick = new ScriptedRail();
    world.addRailAccount(other, quick);
    world.rail.onSend = () => new Promise<Sent>(() => undefined);
    for (let orders = 0; orders < 100; orders += 1) await world.mint();
    const id = await world.mint({ railAccountId: other });
    await world.start();
    expect(world.rail.sent).to.have.length(32);
    expect(quick.sent).to.deep.equal([id]);
  });

  it("looks at once when it is woken, and every half second otherwise", async () => {
    const settlement = await world.start();
    const first = await world.mint();
    settlement.wake();
    await settled();
    expect(world.rail.sent).to.deep.equal([first]);
    const second = await world.mint();
    await world.pass(500);
    expect(world.rail.sent).to.deep.equal([first, second]);
  });

  it("does nothing without the lease", async () => {
    world.leaseLeftMillis = 0;
    await world.mint();
    await world.start();
    await world.pass(MINUTE_MILLIS);
    expect([world.rail.sent, world.submitted]).to.deep.equal([[], []]);
  });

  it("says once that a rail account cannot be read, and leaves its payments alone", async () => {
    world.accounts.clear();
    const id = await world.mint();
    await world.start();
    await world.pass(5_000);
    expect(world.events).to.deep.equal([{ kind: "no rail account", railAccountId: "rail account" }]);
    expect([world.stateOf(id), world.rail.sent]).to.deep.equal(["READY PENDING", []]);
  });

  it("never sees a transaction on the direct rail", () => {
    const direct = [...world.disk.transactions.values()].filter(({ rail }) => rail === DIRECT_RAIL);
    expect(direct.map(({ id }) => world.payments.find(id))).to.deep.equal([undefined]);
  });

  it("begins no new payout while 20 outcomes are unknown, nor while one is 15 minutes old, and mints go on", async () => {
    world.rail.onSend = () => Promise.resolve(UNKNOWN);
    for (let payouts = 0; payouts < 20; payouts += 1) await world.redeem({ cents: 1_00 as never });
    const settlement = await world.start();
    expect(world.rail.sent).to.have.length(20);
    expect(settlement.payoutsStopped).to.deep.equal({ railAccounts: 0, unknownPayouts: 0 });
    // Their first checks find nothing out.
    await world.pass(80_000);
    world.rail.sent.length = 0;
    world.rail.onSend = () => Promise.resolve(ACCEPTED);
    const [payout, mint] = [await world.redeem(), await world.mint()];
    await world.pass(6_000);
    expect(world.rail.sent).to.deep.equal([mint]);
    expect(settlement.payoutsStopped).to.deep.equal({ railAccounts: 1, unknownPayouts: 20 });
    expect(world.watched).to.deep.equal([0, 20]);
    world.set({ payouts: "open" });
    await world.pass(1_000);
    expect(settlement.payoutsStopped).to.deep.equal({ railAccounts: 0, unknownPayouts: 0 });
    expect(world.rail.sent).to.deep.equal([mint, payout]);
  });

  it("holds nothing back for an unknown outcome of a sandbox, and tells nobody of it", async () => {
    world.rail.isSandbox = true;
    world.rail.onSend = () => Promise.resolve(UNKNOWN);
    const unknown = await world.redeem();
    await world.start();
    await world.pass(49 * HOUR_MILLIS);
    expect(world.disk.transactions.get(unknown)?.openFlags).to.deep.equal(["OUTCOME_UNKNOWN"]);
    world.rail.onSend = () => Promise.resolve(ACCEPTED);
    const payout = await world.redeem();
    await world.pass(1_000);
    expect(world.stateOf(payout)).to.equal("ACCEPTED PROCESSING");
    expect(world.events.filter(({ kind }) => kind !== "sent")).to.deep.equal([]);
  });

  it("lets payouts begin as soon as the outcomes are known, and says so although no payout waits", async () => {
    world.rail.onSend = () => Promise.resolve(UNKNOWN);
    const unknown = await world.redeem();
    const settlement = await world.start();
    await world.pass(16 * MINUTE_MILLIS);
    expect(world.watched).to.deep.equal([0, 1]);
    await world.resolve(unknown, { kind: "FAILED" });
    await world.pass(10_000);
    expect([world.watched, settlement.payoutsStopped]).to.deep.equal([
      [0, 1, 0],
      { railAccounts: 0, unknownPayouts: 0 },
    ]);
  });

  it("holds back payouts to tills alone while a till's outcome is unknown", async () => {
    world.rail.onSend = () => Promise.resolve(UNKNOWN);
    await world.payTill();
    const settlement = await world.start();
    await world.pass(16 * MINUTE_MILLIS);
    world.rail.sent.length = 0;
    world.rail.onSend = () => Promise.resolve(ACCEPTED);
    const [toTill, toPhone] = [await world.payTill(), await world.redeem()];
    await world.pass(20_000);
    expect([world.rail.sent, world.stateOf(toTill)]).to.deep.equal([[toPhone], "READY PENDING"]);
    for (const [id, payouts, reason, given = {}] of [
      [toTill, "auto", "OUTCOMES_UNKNOWN"],
      [toTill, "open", undefined],
      [toTill, "open", "ACCOUNT_FROZEN", { isFrozen: true }],
      [toTill, "open", "ORGANIZATION_SUSPENDED", { lastCode: "ORGANIZATION_SUSPENDED" }],
      [toTill, "open", "BOOK_RESTORED", { lastCode: "BOOK_RESTORED" }],
      // The freeze was lifted, and the next look comes at once.
      [toTill, "open", undefined, { lastCode: "ACCOUNT_FROZEN" }],
      [toTill, "closed", "PAYOUTS_CLOSED"],
      // The rail has it.
      [toPhone, "closed", undefined, { isFrozen: true }],
    ] as const) {
      world.set({ payouts });
      const [account] = world.accounts.values();
      const payment = world.payments.find(id);
      if (account === undefined || payment === undefined) throw new Error("there is no payment");
      const asked = { payment: { ...payment, ...given }, isFrozen: "isFrozen" in given, now: world.timing.now() };
      expect(await heldReasonOf(world.payments, account, asked)).to.equal(reason);
    }
    world.set({ payouts: "auto" });
    await world.pass(6_000);
    expect(settlement.payoutsStopped).to.deep.equal({ railAccounts: 1, unknownPayouts: 1 });
  });

  it("flags the payouts for which it holds others back, and names them once", async () => {
    world.rail.onSend = () => Promise.resolve(UNKNOWN);
    const unknown = await world.redeem();
    await world.start();
    const stopped = () => world.events.filter(({ kind }) => kind === "payouts stopped");
    await world.pass(14 * MINUTE_MILLIS);
    expect([stopped(), world.disk.transactions.get(unknown)?.openFlags]).to.deep.equal([[], []]);
    await world.pass(MINUTE_MILLIS);
    const waiting = await world.redeem();
    await world.pass(20_000);
    expect(world.stateOf(waiting)).to.equal("READY PENDING");
    expect(world.disk.transactions.get(unknown)?.openFlags).to.deep.equal(["OUTCOME_UNKNOWN"]);
    expect(stopped()).to.deep.equal([
      { kind: "payouts stopped", railAccountId: "rail account", unknown: 1, transactionIds: [unknown] },
    ]);
  });
});
