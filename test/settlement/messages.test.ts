import { expect } from "chai";

import { toCents } from "../../src/domain/values/cents.js";
import type { TransactionId } from "../../src/domain/values/ids.js";
import type { MaskedPhone } from "../../src/domain/values/masked-phone.js";
import { MPESA_CAPABILITIES } from "../../src/rails/mpesa/limits.js";
import type { RailReport } from "../../src/rails/rail.js";
import { SandboxRail } from "../../src/rails/sandbox/sandbox.js";
import { RAIL_TERMS, receiptNamed } from "../support/names.js";
import { clearFlag, resolve } from "../support/operations/transactions.js";
import { settled } from "./support/manual-timing.js";
import { ACCEPTED, failedWith, OPEN, paid, REJECTED, UNKNOWN, UNREACHED } from "./support/scripted-rail.js";
import { HOUR_MILLIS, MINUTE_MILLIS, World } from "./support/world.js";

describe("the settlement, about the messages of a rail", () => {
  let world: World;

  beforeEach(async () => {
    world = new World();
    await world.open();
  });

  afterEach(() => world.stop());

  it("books no success that only a message tells", async () => {
    const id = await world.mint();
    await world.start();
    await world.message(id, paid("ref", { receipt: "R1", amountCents: toCents(100_00) }));
    expect([world.stateOf(id), world.movedCents]).to.deep.equal(["ACCEPTED PROCESSING", 0]);
    expect(world.rail.asked).to.have.length(1);
    expect(world.inbox.open).to.have.length(1);
  });

  it("show their code at once, and let a person look at once where nobody is sure what it means", async () => {
    const [pending, unclear] = [await world.mint(), await world.mint()];
    await world.start();
    const codes = () => [pending, unclear].map((id) => world.payments.find(id)?.lastCode);
    await world.message(pending, { kind: "open", code: "4999" });
    await world.message(unclear, { kind: "open", code: "1001", isUnclear: true });
    expect(codes()).to.deep.equal(["4999", "1001"]);
    expect(world.stateOf(unclear)).to.equal("ACCEPTED PROCESSING OUTCOME_UNKNOWN");
    await world.pass(1_000);
    expect(world.rail.asked.map(({ transactionId }) => transactionId)).to.deep.equal([unclear]);
    // The rail is asked on, and may still tell the outcome.
    world.rail.onQuery = ({ transactionId }) => Promise.resolve(transactionId === unclear ? paid("ref") : OPEN);
    await world.pass(5 * MINUTE_MILLIS);
    expect(world.stateOf(unclear)).to.equal("ENDED COMPLETED");
  });

  it("close the payouts of a rail account that is locked, until an operator opens them", async () => {
    const asked = await world.redeem();
    await world.start();
    await world.message(asked, { kind: "open", code: "PENDING" }, "pay_out");
    expect(world.events.map(({ kind }) => kind)).not.to.include("payouts closed");
    await world.message(asked, { kind: "open", code: "LOCKED" }, "pay_out");
    await world.message(asked, { kind: "open", code: "LOCKED" }, "status");
    expect(world.events.filter(({ kind }) => kind === "payouts closed")).to.have.length(1);
    const later = await world.redeem();
    await world.pass(MINUTE_MILLIS);
    expect(world.stateOf(later)).to.equal("READY PENDING");
    expect(world.stateOf(asked)).to.equal("ACCEPTED PROCESSING");
    world.set({ payouts: "auto" });
    await world.pass(MINUTE_MILLIS);
    expect(world.stateOf(later)).to.equal("ACCEPTED PROCESSING");
  });

  it("books a success that a query confirms, with what only the message says", async () => {
    const id = await world.mint();
    await world.start();
    world.rail.onQuery = ({ railReference }) => Promise.resolve(paid(String(railReference)));
    await world.message(id, paid("ref", { receipt: "R1", amountCents: toCents(100_00) }));
    expect(world.stateOf(id)).to.equal("ENDED COMPLETED");
    expect(world.transaction(id)).to.include({ railMovement: "ref", railReceipt: "R1" });
    expect(world.inbox.open).to.deep.equal([]);
  });

  it("books a success at most as high as the limit without a query, and none above it", async () => {
    world.set({ confirmAboveCents: toCents(100_00) });
    const [low, high] = [await world.mint(), await world.mint({ cents: toCents(100_01) })];
    const understated = await world.mint({ cents: toCents(500_00) });
    await world.start();
    await world.message(low, paid("ref", { receipt: "R1" }));
    await world.message(high, paid("ref", { receipt: "R2" }));
    await world.message(understated, paid("ref", { receipt: "R3", amountCents: toCents(1) }));
    expect([low, high, understated].map((id) => world.transaction(id)?.status)).to.deep.equal([
      "COMPLETED",
      "PROCESSING",
      "PROCESSING",
    ]);
    expect(world.rail.asked.map(({ transactionId }) => transactionId)).to.deep.equal([high, understated]);
  });

  it("asks about the movement that the message names, for example if the answer to the request was lost", async () => {
    const id = await world.mint();
    world.rail.onSend = () => Promise.resolve(UNKNOWN);
    await world.start();
    world.rail.onQuery = ({ railReference = "" }) => Promise.resolve(railReference === "ws_1" ? paid("ws_1") : OPEN);
    await world.message(id, paid("ws_1", { receipt: "R1" }));
    expect(world.stateOf(id)).to.equal("ENDED COMPLETED");
  });

  it("does not book the movement of another order, which the rail would confirm", async () => {
    const id = await world.mint();
    await world.start();
    world.rail.onQuery = ({ railReference }) => Promise.resolve(railReference === "ref" ? OPEN : paid("another order"));
    await world.message(id, paid("another order", { receipt: "R1" }));
    expect([world.stateOf(id), world.movedCents]).to.deep.equal(["ACCEPTED PROCESSING", 0]);
  });

  it("books the movement of the first of two requests, which seemed not to have arrived", async () => {
    const id = await world.mint();
    const answers = [UNREACHED, ACCEPTED];
    world.rail.onSend = () => Promise.resolve(answers.shift() ?? ACCEPTED);
    await world.start();
    await world.pass(15_000);
    world.rail.onQuery = ({ railReference }) => Promise.resolve(railReference === "first" ? paid("first") : OPEN);
    await world.message(id, paid("first", { receipt: "R1" }));
    expect([world.stateOf(id), world.movedCents]).to.deep.equal(["ENDED COMPLETED", 100_00]);
  });

  it("joins nothing to an answer about another movement", async () => {
    const id = await world.mint();
    world.rail.onSend = () => Promise.resolve(UNKNOWN);
    await world.start();
    world.rail.onQuery = () => Promise.resolve(paid("ref"));
    await world.message(id, paid("forged", { receipt: "FORGED" }));
    expect(world.transaction(id)).to.include({ railMovement: "ref", railReceipt: undefined });
  });

  for (const direction of ["mint", "redeem"] as const) {
    it(`fails no ${direction} of which only a message tells`, async () => {
      const id = await world[direction]();
      await world.start();
      const movement = direction === "mint" ? "ref" : id;
      await world.message(id, failedWith(movement), direction === "mint" ? "collect" : "pay_out");
      expect(world.stateOf(id)).to.equal("ACCEPTED PROCESSING");
      world.rail.onQuery = () => Promise.resolve(failedWith(movement));
      await world.pass(6_000);
      expect(world.stateOf(id)).to.equal("ENDED FAILED");
      expect([world.heldCents, world.inbox.open]).to.deep.equal([0, []]);
    });
  }

  it("believes the answer to a status query, and with it the message that it confirms", async () => {
    const [lost, done] = [await world.redeem(), await world.redeem()];
    await world.start();
    await world.message(lost, failedWith(lost), "pay_out");
    await world.message(done, paid(done, { receipt: "R1" }), "pay_out");
    await world.message(lost, failedWith(lost), "status");
    await world.message(done, paid(done), "status");
    expect([world.stateOf(lost), world.stateOf(done)]).to.deep.equal(["ENDED FAILED", "ENDED COMPLETED"]);
    const { length } = world.rail.asked;
    await world.pass(MINUTE_MILLIS);
    expect(world.inbox.open).to.deep.equal([]);
    expect(world.rail.asked).to.have.length(length);
    expect(world.transaction(done)).to.include({ railMovement: done, railReceipt: "R1" });
    expect(world.stateOf(done)).to.equal("ENDED COMPLETED");
  });

  it("says why a payout failed, where the status query does not and a message of the movement does", async () => {
    const [told, untold] = [await world.redeem(), await world.redeem()];
    await world.start();
    const why = { ...failedWith(told), failure: "RECIPIENT_LIMIT" as const };
    await world.message(told, why, "pay_out");
    await world.message(untold, { ...why, movement: "another" }, "pay_out");
    for (const id of [told, untold]) {
      await world.message(id, { ...failedWith(id), failure: "RAIL_REFUSED" as const }, "status");
    }
    const failures = [told, untold].map((id) => world.transaction(id)?.failure);
    expect(failures).to.deep.equal(["RECIPIENT_LIMIT", "RAIL_REFUSED"]);
  });

  it("takes the notice of a timeout for no outcome", async () => {
    const id = await world.redeem();
    await world.start();
    await world.message(id, { kind: "open", code: "QUEUE_TIMEOUT" }, "timeout");
    expect([world.stateOf(id), world.inbox.open, world.rail.asked]).to.deep.equal(["ACCEPTED PROCESSING", [], []]);
  });

  it("gives one credit for one late success, which a query and two callbacks tell", async () => {
    const id = await world.mint();
    world.rail.onQuery = () => Promise.resolve(failedWith("ref"));
    await world.start();
    await world.pass(80_000);
    expect(world.stateOf(id)).to.equal("ENDED FAILED");
    const callback = paid("ref", { receipt: "R1", amountCents: toCents(100_00) });
    await world.message(id, callback);
    // The rail still says that it failed. The success may come later.
    expect([world.movedCents, world.inbox.open.length]).to.deep.equal([0, 1]);
    expect(world.stateOf(id)).to.equal("ENDED FAILED REPORT_DIFFERS");
    world.rail.onQuery = () => Promise.resolve(paid("ref"));
    await world.pass(6_000);
    await world.message(id, { ...callback, phone: "254******678" as MaskedPhone } as typeof callback);
    expect([world.movedCents, world.inbox.open]).to.deep.equal([100_00, []]);
    const late = [...world.disk.transactions.values()].filter(({ corrects }) => corrects?.transactionId === id);
    expect(late.map(({ status, railReceipt }) => [status, railReceipt])).to.deep.equal([["COMPLETED", "R1"]]);
  });

  it("replays a doubled message, and flags a failure of what is completed", async () => {
    const id = await world.mint();
    await world.start();
    world.rail.onQuery = () => Promise.resolve(paid("ref"));
    await world.message(id, paid("ref", { receipt: "R1" }));
    await world.message(id, paid("ref", { receipt: "R1", amountCents: toCents(100_00) }));
    expect([world.stateOf(id), world.movedCents]).to.deep.equal(["ENDED COMPLETED", 100_00]);
    await world.message(id, failedWith("ref"));
    expect(world.stateOf(id)).to.equal("ENDED COMPLETED FAILED_AFTER_COMPLETION");
    expect([world.movedCents, world.inbox.open]).to.deep.equal([100_00, []]);
  });

  for (const [what, isWhole, state] of [
    ["says only that", false, "ACCEPTED PROCESSING REPORT_DIFFERS"],
    ["names receipt, amount and phone", true, "ENDED COMPLETED FAILED_AFTER_COMPLETION"],
  ] as const) {
    for (const direction of ["mint", "redeem"] as const) {
      it(`ends a ${direction} of which a message says that it failed as ${state}, if the query ${what}`, async () => {
        const id = await world[direction]();
        await world.start();
        const [movement, purpose] = direction === "mint" ? (["ref", "collect"] as const) : ([id, "pay_out"] as const);
        const phone = world.payments.find(id)?.maskedNumber as MaskedPhone;
        const whole = isWhole ? { receipt: "R1", amountCents: toCents(100_00), phone } : {};
        world.rail.onQuery = () => Promise.resolve(paid(movement, whole));
        await world.message(id, failedWith(movement), purpose);
        const movedCents = isWhole ? (direction === "mint" ? 100_00 : -100_00) : 0;
        expect([world.stateOf(id), world.inbox.open, world.movedCents]).to.deep.equal([state, [], movedCents]);
        expect(world.events).to.deep.include({ kind: "message dropped", transactionId: id, why: "contradicted" });
        // The poller asks as well: it waits for a person, or for the list of the rail.
        await world.pass(HOUR_MILLIS);
        expect([world.stateOf(id), world.movedCents]).to.deep.equal([state, movedCents]);
      });
    }
  }

  it("does not take the failure of another prompt for that of the order", async () => {
    const id = await world.mint();
    await world.start();
    world.rail.onQuery = () => Promise.resolve(failedWith("another prompt"));
    await world.message(id, failedWith("another prompt"));
    expect([world.stateOf(id), world.inbox.open]).to.deep.equal(["ACCEPTED PROCESSING", []]);
  });

  it("flags a success that no query ever confirms", async () => {
    const id = await world.mint();
    world.rail.onQuery = ({ railReference }) => Promise.resolve(railReference === "ref" ? failedWith("ref") : OPEN);
    await world.start();
    await world.pass(80_000);
    expect(world.stateOf(id)).to.equal("ENDED FAILED");
    await world.message(id, paid("forged", { receipt: "FORGED" }));
    await world.pass(6_000);
    expect(world.stateOf(id)).to.equal("ENDED FAILED REPORT_DIFFERS");
    await world.pass(48 * HOUR_MILLIS);
    expect([world.stateOf(id), world.movedCents]).to.deep.equal(["ENDED FAILED REPORT_DIFFERS OUTCOME_UNKNOWN", 0]);
    expect(world.inbox.open).to.deep.equal([]);
  });

  it("does not raise again what a person has lowered, for a message that was seen before", async () => {
    const id = await world.mint();
    world.rail.onQuery = () => Promise.resolve(failedWith("ref"));
    await world.start();
    await world.pass(80_000);
    await world.message(id, paid("ref", { receipt: "R1" }));
    await world.pass(MINUTE_MILLIS);
    await world.commit(clearFlag(world.organizationId, id, "REPORT_DIFFERS"));
    await world.pass(HOUR_MILLIS);
    expect(world.stateOf(id)).to.equal("ENDED FAILED");
  });

  describe("of which one says the opposite of the other", () => {
    const HELD = 100_00;
    const success = (id: TransactionId): RailReport => paid(id, { receipt: "R1", amountCents: toCents(HELD) });

    for (const [what, tell] of [
      [
        "a query says that it failed",
        async (id: TransactionId) => {
          world.rail.onQuery = () => Promise.resolve(failedWith(id));
          await world.pass(80_000);
        },
      ],
      ["the answer to a status query says so", (id: TransactionId) => world.message(id, failedWith(id), "status")],
      ["a second callback says so", (id: TransactionId) => world.message(id, failedWith(id), "pay_out")],
    ] as const) {
      it(`fails no payout whose success is stored, and flags it at once: ${what}`, async () => {
        const id = await world.redeem();
        await world.start();
        await world.message(id, success(id), "pay_out");
        expect([world.stateOf(id), world.heldCents]).to.deep.equal(["ACCEPTED PROCESSING", HELD]);
        await tell(id);
        expect([world.stateOf(id), world.heldCents]).to.deep.equal(["ACCEPTED PROCESSING REPORT_DIFFERS", HELD]);
      });
    }

    it("fails no mint whose success is stored while the query says that the payer has canceled", async () => {
      const id = await world.mint();
      await world.start();
      await world.message(id, paid("ref", { receipt: "R1", amountCents: toCents(HELD) }));
      world.rail.onQuery = () => Promise.resolve(failedWith("ref"));
      await world.pass(80_000);
      expect([world.stateOf(id), world.movedCents]).to.deep.equal(["ACCEPTED PROCESSING REPORT_DIFFERS", 0]);
      await world.resolve(id, { kind: "COMPLETED", receipt: receiptNamed("R1") });
      expect([world.stateOf(id), world.movedCents]).to.deep.equal(["ENDED COMPLETED", HELD]);
    });

    it("flags a success at once that comes after a failure was stored", async () => {
      const id = await world.redeem();
      await world.start();
      await world.message(id, failedWith(id), "pay_out");
      expect(world.stateOf(id)).to.equal("ACCEPTED PROCESSING");
      await world.message(id, success(id), "pay_out");
      expect([world.stateOf(id), world.heldCents]).to.deep.equal(["ACCEPTED PROCESSING REPORT_DIFFERS", HELD]);
    });

    it("does not fail an order for a rejected request of which a success has come", async () => {
      const id = await world.redeem();
      world.rail.onSend = async () => {
        await world.message(id, success(id), "pay_out");
        return REJECTED;
      };
      await world.start();
      await settled();
      expect([world.stateOf(id), world.heldCents]).to.deep.equal(["SENDING PROCESSING REPORT_DIFFERS", HELD]);
    });

    it("completes it once the rail and its message agree on everything, and keeps a flag", async () => {
      const id = await world.redeem();
      const whole = { ...success(id), phone: world.payments.find(id)?.maskedNumber } as RailReport;
      await world.start();
      await world.message(id, whole, "pay_out");
      await world.message(id, failedWith(id), "status");
      expect(world.stateOf(id)).to.equal("ACCEPTED PROCESSING REPORT_DIFFERS");
      await world.message(id, whole, "status");
      expect([world.stateOf(id), world.heldCents]).to.deep.equal(["ENDED COMPLETED FAILED_AFTER_COMPLETION", 0]);
    });
  });

  it("does not complete an order by a query without an amount while a callback names another one", async () => {
    const id = await world.mint();
    await world.start();
    await world.message(id, paid("ref", { receipt: "R1", amountCents: toCents(90_00) }));
    expect(world.stateOf(id)).to.equal("ACCEPTED PROCESSING");
    world.rail.onQuery = () => Promise.resolve(paid("ref"));
    await world.pass(80_000);
    expect([world.stateOf(id), world.movedCents]).to.deep.equal(["ACCEPTED PROCESSING REPORT_DIFFERS", 0]);
  });

  it("keeps the flag of a payment of another amount while a query says only that it was paid", async () => {
    const id = await world.mint();
    world.set({ confirmAboveCents: toCents(100_00) });
    await world.start();
    await world.message(id, paid("ref", { receipt: "R1", amountCents: toCents(90_00) }));
    expect(world.stateOf(id)).to.equal("ACCEPTED PROCESSING REPORT_DIFFERS");
    world.rail.onQuery = () => Promise.resolve(paid("ref"));
    await world.pass(80_000);
    expect([world.stateOf(id), world.movedCents]).to.deep.equal(["ACCEPTED PROCESSING REPORT_DIFFERS", 0]);
    const moved = { kind: "MOVED", receipt: receiptNamed("R1"), amountCents: toCents(90_00) } as const;
    await world.resolve(id, moved);
    expect([world.stateOf(id), world.movedCents]).to.deep.equal(["ENDED FAILED", 90_00]);
  });

  for (const [direction, purpose] of [
    ["mint", "collect"],
    ["redeem", "pay_out"],
  ] as const) {
    it(`lets a person look within 3 minutes at what the rail has called of a ${direction}, if no query confirms it`, async () => {
      const [said, failed] = [await world[direction](), await world[direction]()];
      world.set({ payouts: "open" });
      await world.start();
      const movement = (id: TransactionId) => (direction === "mint" ? "ref" : id);
      const at = new Date(world.timing.now()).toISOString();
      await world.message(said, paid(movement(said), { receipt: "R1", amountCents: toCents(90_00) }), purpose);
      await world.message(failed, failedWith(movement(failed)), purpose);
      await world.pass(2 * MINUTE_MILLIS);
      expect([said, failed].map((id) => world.stateOf(id))).to.deep.equal([
        "ACCEPTED PROCESSING",
        "ACCEPTED PROCESSING",
      ]);
      await world.pass(MINUTE_MILLIS);
      const flagged = "ACCEPTED PROCESSING OUTCOME_UNKNOWN";
      expect([said, failed].map((id) => world.stateOf(id))).to.deep.equal([flagged, flagged]);
      const words = world.disk
        .journalAfter(world.organizationId, 0)
        .filter(({ kind }) => kind === "transaction.flagged")
        .map(({ reason }) => reason);
      const preposition = direction === "mint" ? "from" : "to";
      expect(words).to.have.members([
        `perhaps paid: 90.00 ${preposition} +254******678, says the rail at ${at}, receipt R1. ` +
          "No query confirms it. Look for it in the statement of the rail",
        `perhaps failed with 2001: 100.00 ${preposition} +254******678, says the rail at ${at}. ` +
          "No query confirms it. Look for it in the statement of the rail",
      ]);
      expect(world.heldCents).to.equal(direction === "mint" ? 0 : 200_00);
    });
  }

  it("holds no payout back for one whose outcome the rail has called, and that no query confirms", async () => {
    const [called, failed, waiting] = [await world.redeem(), await world.redeem(), await world.redeem()];
    world.rail.onSend = ({ transactionId }) => Promise.resolve(transactionId === waiting ? UNREACHED : ACCEPTED);
    await world.start();
    await world.message(called, paid(called, { receipt: "R1" }), "pay_out");
    await world.message(failed, failedWith(failed), "pay_out");
    world.rail.onSend = () => Promise.resolve(ACCEPTED);
    await world.pass(HOUR_MILLIS);
    expect([called, failed].map((id) => world.payments.find(id)?.lastCode)).to.deep.equal([
      "SUCCEEDED unconfirmed",
      "2001 unconfirmed",
    ]);
    const later = await world.redeem();
    await world.pass(MINUTE_MILLIS);
    // The one without a word from the rail is what holds it.
    expect(world.stateOf(later)).to.equal("READY PENDING");
    world.rail.onQuery = ({ transactionId }) => Promise.resolve(transactionId === waiting ? paid(waiting) : OPEN);
    await world.pass(HOUR_MILLIS);
    expect(world.stateOf(waiting)).to.equal("ENDED COMPLETED");
    expect(world.rail.sent).to.include(later);
  });

  it("lets a person look at once where the answer to a query is that the rail does not have the payout", async () => {
    const id = await world.redeem();
    await world.start();
    await world.message(id, { kind: "open", code: "2033", isUnclear: true }, "status");
    expect([world.stateOf(id), world.heldCents]).to.deep.equal(["ACCEPTED PROCESSING OUTCOME_UNKNOWN", 100_00]);
    expect(world.payments.find(id)?.lastCode).to.equal("2033");
    await world.pass(MINUTE_MILLIS);
    expect(world.rail.asked).to.deep.equal([]);
  });

  it("drops a failure that no query ever confirms", async () => {
    const id = await world.redeem();
    world.set({ payouts: "open" });
    await world.start();
    await world.message(id, failedWith(id), "pay_out");
    await world.pass(44 * HOUR_MILLIS);
    expect([world.stateOf(id), world.inbox.open]).to.deep.equal(["ACCEPTED PROCESSING OUTCOME_UNKNOWN", []]);
    expect(world.events).to.deep.include({ kind: "message dropped", transactionId: id, why: "unconfirmed" });
  });

  it("flags a success of an order that was never begun", async () => {
    const id = await world.mint();
    world.disk.setState(world.organizationId, "RESTORED");
    await world.start();
    world.rail.onQuery = ({ railReference }) => Promise.resolve(paid(String(railReference)));
    await world.message(id, paid("ws_1", { receipt: "R1" }));
    expect([world.stateOf(id), world.movedCents]).to.deep.equal(["READY PENDING REPORT_WITHOUT_ORDER", 0]);
  });

  it("settles a message that it cannot read, and one that belongs to no payment", async () => {
    const id = await world.mint();
    await world.start();
    await world.message(id, "no report");
    await world.message("txn_unknown" as TransactionId, paid("m"));
    await settled();
    expect(world.inbox.open).to.deep.equal([]);
    expect(
      world.events.filter(({ kind }) => kind === "message dropped").map((event) => "why" in event && event.why),
    ).to.have.members(["unreadable", "no payment"]);
  });

  it("settles a message only after the ledger has decided its command", async () => {
    const id = await world.mint();
    await world.start();
    world.rail.onQuery = () => Promise.resolve(paid("ref"));
    world.intercept = async (_command, commit) => {
      await commit();
      return { kind: "refused", refusal: { reason: "STORAGE_UNAVAILABLE" } };
    };
    await world.message(id, paid("ref", { receipt: "R1" }));
    await world.pass(40_000);
    expect([world.stateOf(id), world.inbox.open.length]).to.deep.equal(["ENDED COMPLETED", 1]);
    world.intercept = (_command, commit) => commit();
    await world.pass(30_000);
    expect([world.inbox.open, world.movedCents]).to.deep.equal([[], 100_00]);
  });

  it("takes a callback that comes before the answer to the request", async () => {
    const id = await world.mint();
    world.rail.onQuery = ({ railReference }) => Promise.resolve(paid(String(railReference)));
    world.rail.onSend = async () => {
      await world.message(id, paid("ref", { receipt: "R1" }));
      expect(world.stateOf(id)).to.equal("ENDED COMPLETED");
      return ACCEPTED;
    };
    await world.start();
    await settled();
    expect([world.stateOf(id), world.movedCents]).to.deep.equal(["ENDED COMPLETED", 100_00]);
  });

  it("keeps a message whose rail account cannot be read", async () => {
    const id = await world.mint();
    await world.start();
    const [account] = world.accounts.values();
    world.accounts.clear();
    world.rail.onQuery = () => Promise.resolve(paid("ref"));
    await world.message(id, paid("ref"));
    expect(world.inbox.open).to.have.length(1);
    if (account !== undefined) world.accounts.set(account.id, account);
    await world.pass(5 * MINUTE_MILLIS + 1_000);
    expect([world.stateOf(id), world.inbox.open]).to.deep.equal(["ENDED COMPLETED", []]);
  });

  it("keeps the messages of a slow rail from delaying others", async () => {
    const ids = await Promise.all(Array.from({ length: 40 }, () => world.mint()));
    await world.start();
    await settled();
    world.rail.onQuery = () => new Promise(() => undefined);
    for (const id of ids) await world.message(id, paid("ref"));
    expect(world.rail.asked).to.have.length(32);
    expect(world.inbox.open.filter(({ tries }) => tries > 0)).to.deep.equal([]);
  });

  it("applies messages that find no room as soon as there is some, and knows what happened meanwhile", async () => {
    const ids = await Promise.all(Array.from({ length: 40 }, () => world.mint()));
    world.rail.onSend = ({ transactionId }) =>
      Promise.resolve({ kind: "accepted", railReference: `m ${transactionId}` });
    await world.start();
    await world.pass(1_000);
    const answers: ((report: RailReport) => void)[] = [];
    world.rail.onQuery = () => new Promise((resolve) => answers.push(resolve));
    for (const id of ids) await world.message(id, paid(`m ${id}`));
    const first = answers.splice(0);
    world.rail.onQuery = ({ railReference }) => Promise.resolve(paid(String(railReference)));
    for (const [index, answer] of first.entries()) answer(paid(`m ${String(ids[index])}`));
    for (let turns = 0; turns < 20; turns += 1) await settled();
    expect(ids.filter((id) => world.stateOf(id) !== "ENDED COMPLETED")).to.deep.equal([]);
    expect(world.inbox.open).to.deep.equal([]);
  });

  describe("with the sandbox", () => {
    const orderOn = async (digits: string): Promise<TransactionId> => {
      const rail = new SandboxRail({ capabilities: MPESA_CAPABILITIES, now: world.timing.now });
      world.addRailAccount(RAIL_TERMS.railAccountId, rail);
      return world.mintFrom(`+2547000000${digits}`);
    };

    it("knows of a success after a second", async () => {
      const id = await orderOn("00");
      await world.start();
      expect(world.stateOf(id)).to.equal("ACCEPTED PROCESSING");
      await world.pass(1_500);
      expect([world.stateOf(id), world.movedCents]).to.deep.equal(["ENDED COMPLETED", 100_00]);
      await world.pass(5_000);
      expect([world.inbox.open, world.movedCents]).to.deep.equal([[], 100_00]);
    });

    it("gets its late money", async () => {
      const id = await orderOn("12");
      await world.start();
      await world.pass(60_000);
      expect([world.stateOf(id), world.movedCents]).to.deep.equal(["ENDED FAILED", 0]);
      await world.pass(65_000);
      expect([world.stateOf(id), world.movedCents]).to.deep.equal(["ENDED FAILED", 100_00]);
    });

    it("moves an order on when somebody advances it", async () => {
      const id = await orderOn("13");
      const settlement = await world.start();
      await world.pass(10_000);
      expect(world.stateOf(id)).to.equal("ACCEPTED PROCESSING");
      await world.payments.advance(id, world.timing.now());
      settlement.wake();
      await world.pass(500);
      expect(world.stateOf(id)).to.equal("ENDED COMPLETED");
    });

    it("flags an order that nobody will ever know more of when somebody advances it", async () => {
      const id = await orderOn("15");
      const settlement = await world.start();
      await world.pass(10_000);
      expect(world.stateOf(id)).to.equal("SENDING PROCESSING");
      await world.payments.advance(id, world.timing.now());
      settlement.wake();
      await world.pass(500);
      expect(world.stateOf(id)).to.equal("SENDING PROCESSING OUTCOME_UNKNOWN");
      await world.pass(MINUTE_MILLIS);
      await world.commit(resolve(world.organizationId, id, { kind: "FAILED" }));
    });
  });
});
