import { expect } from "chai";

import type { ReceiveDeposit } from "../../../src/domain/deposits/receive-deposit.js";
import type { RailAccountId, RailReceipt } from "../../../src/domain/payment.js";
import { toCents } from "../../../src/domain/values/cents.js";
import type { DepositId, OrganizationId, TransactionId } from "../../../src/domain/values/ids.js";
import { toUnixMillis } from "../../../src/domain/values/time.js";
import type { RailPeriod, ReceivedPayment, ReceivedPayments } from "../../../src/rails/rail.js";
import { DepositSweeper } from "../../../src/settlement/deposits/sweeper.js";
import { RailFaults } from "../../../src/settlement/faults.js";
import type { RailAccount } from "../../../src/settlement/ports/rail-accounts.js";
import type { SettlementEvent, Submit } from "../../../src/settlement/ports/runtime.js";
import { MemoryInbox } from "../../attack/simulation/rails/memory-inbox.js";
import { depositReference } from "../../support/names.js";
import { ManualTiming } from "../support/manual-timing.js";
import { ScriptedRail } from "../support/scripted-rail.js";
import { MemoryDeposits } from "./memory-deposits.js";

const [SECOND, MINUTE, HOUR] = [1_000, 60_000, 3_600_000];
const ID = "rail_1" as RailAccountId;
const ORGANIZATION = "org_1" as OrganizationId;
const ORDER = "txn_00000000000000w3xhb1z7q4ye" as TransactionId;
const NUMBER = depositReference(1);
const DAY_MILLIS = 24 * HOUR;

/** A rail that lists what a test wants. */
class ListingRail extends ScriptedRail {
  readonly periods: RailPeriod[] = [];
  onList: () => Promise<ReceivedPayments> = () => Promise.resolve({ kind: "complete", payments: [], unreadable: [] });

  receivedPayments(period: RailPeriod): Promise<ReceivedPayments> {
    this.periods.push(period);
    return this.onList();
  }
}

describe("the reading of lists of received payments", () => {
  let timing: ManualTiming;
  let rail: ListingRail;
  let deposits: MemoryDeposits;
  let events: SettlementEvent[];
  let submitted: ReceiveDeposit[];
  let refuse: string | undefined;
  let leftMillis: number;
  let sweeper: DepositSweeper;

  beforeEach(() => {
    timing = new ManualTiming();
    rail = new ListingRail();
    deposits = new MemoryDeposits();
    events = [];
    submitted = [];
    refuse = undefined;
    leftMillis = Infinity;
    const now = timing.now();
    deposits.add({ railAccountId: ID, organizationId: ORGANIZATION, since: now, dueAt: now, readAt: undefined });
    sweeper = new DepositSweeper({
      deposits,
      railAccounts: { account: (id) => (id === ID ? ({ id, rail } as unknown as RailAccount) : undefined) },
      lease: { leftMillis: () => leftMillis },
      faults: new RailFaults({ submitWatch: submit as Submit, timing, onEvent: (event) => events.push(event) }),
      submit: submit as Submit,
      newDepositId: () => "dep_1" as DepositId,
      newTransactionId: () => "txn_1" as TransactionId,
      inbox: new MemoryInbox(),
      typedMillisMax: DAY_MILLIS,
      timing,
      onEvent: (event) => events.push(event),
    });
  });
  afterEach(() => sweeper.stop());

  async function submit(command: ReceiveDeposit): Promise<unknown> {
    submitted.push(command);
    if (refuse === "throws") throw new Error("the ledger is gone");
    if (refuse !== undefined) return Promise.resolve({ kind: "refused", refusal: { reason: refuse } });
    deposits.booked.add(command.receipt);
    return Promise.resolve({ kind: "done", resource: {}, replayed: false });
  }

  function payment(receipt: string, given: Partial<ReceivedPayment> = {}): ReceivedPayment {
    const others = { reference: NUMBER, idEnd: undefined, phone: undefined, receivedAt: timing.now() };
    return { receipt: receipt as RailReceipt, amountCents: toCents(100_00), ...others, ...given };
  }

  function lists(...payments: readonly ReceivedPayment[]): void {
    rail.onList = () => Promise.resolve({ kind: "complete", payments, unreadable: [] });
  }

  async function start(): Promise<void> {
    sweeper.start();
    await timing.pass(0);
  }

  const receipts = (): readonly string[] => submitted.map(({ receipt }) => receipt);
  const kinds = (): readonly string[] => events.map(({ kind }) => kind);

  it("books each payment that the book lacks, with all that the list says", async () => {
    const receivedAt = timing.now();
    deposits.booked.add("R1");
    deposits.orders.set("w3xhb1z7q4ye", ORDER);
    lists(
      payment("R1"),
      payment("R2", { reference: ` ${NUMBER}\u0000 ` }),
      payment("R3", { reference: "W3XHB1Z7Q4YE", idEnd: "w3xhb1z7q4ye" }),
      payment("R4", { reference: "W3XHB1Z7Q4YE", idEnd: "w3xhb1z7q4ye" }),
    );
    await start();
    const common = {
      name: "receiveDeposit",
      organizationId: ORGANIZATION,
      actor: "scripted",
      newDepositId: "dep_1",
      newTransactionId: "txn_1",
      rail: "scripted",
      railAccountId: ID,
      amountCents: 100_00,
      phone: undefined,
      paidAt: receivedAt,
    };
    const ofOrder = { typedReference: "W3XHB1Z7Q4YE", orderId: ORDER, confirmedReceipts: ["R3", "R4"] };
    expect(submitted).to.deep.equal([
      { ...common, receipt: "R2", typedReference: NUMBER, orderId: undefined, confirmedReceipts: [] },
      { ...common, receipt: "R3", ...ofOrder },
      { ...common, receipt: "R4", ...ofOrder },
    ]);
    expect(events).to.deep.equal([{ kind: "payments found", railAccountId: ID, booked: 3, heldBack: 0, undecided: 0 }]);
  });

  it("leaves out what certainly came before the registration", async () => {
    const { since } = deposits.list(ID);
    lists(
      payment("BEFORE", { receivedAt: toUnixMillis(since - 10_001) }),
      payment("THEN", { receivedAt: toUnixMillis(since - 10_000) }),
      payment("UNCERTAIN", { receivedAt: undefined }),
    );
    await start();
    expect(receipts()).to.deep.equal(["THEN"]);
    expect(events.slice(1)).to.deep.equal([
      {
        kind: "rows not credited",
        railAccountId: ID,
        unreadable: 0,
        unclear: 1,
        unknownKinds: [],
        receipts: ["UNCERTAIN"],
      },
    ]);
    // No list of this period has what came before it.
    await timing.pass(5 * HOUR, MINUTE);
    expect(receipts()).to.deep.equal(["THEN", "UNCERTAIN"]);
  });

  /** A time as M-Pesa was seen to write it. `writtenAt`: the moment that it says, with a Z. */
  function doubtful(writtenAt: number): Partial<ReceivedPayment> {
    const ifUtc = toUnixMillis(writtenAt);
    return { receivedAt: undefined, doubtful: { ifUtc, ifLocal: toUnixMillis(writtenAt - 3 * HOUR), saysUtc: true } };
  }
  const paidAt = () => submitted.map((command) => command.paidAt);

  it("credits no payment from before the registration whose clock is Nairobi's behind a Z", async () => {
    const { since } = deposits.list(ID);
    const paid = since - 2 * HOUR;
    lists(payment("BEFORE", doubtful(paid + 3 * HOUR)));
    await start();
    await timing.pass(12 * HOUR, MINUTE);
    expect(receipts()).to.deep.equal([]);
  });

  it("credits it neither in a server that begins later, and says so", async () => {
    const { since } = deposits.list(ID);
    lists(payment("BEFORE", doubtful(since + HOUR)));
    leftMillis = 0;
    await start();
    await timing.pass(4 * HOUR, MINUTE);
    leftMillis = Infinity;
    await timing.pass(SECOND);
    expect(receipts()).to.deep.equal([]);
    expect(events.find(({ kind }) => kind === "rows not credited")).to.deep.include({
      unclear: 1,
      receipts: ["BEFORE"],
    });
  });

  it("believes no time after now, and then reads the list's clock as that of the country", async () => {
    await timing.pass(10 * HOUR, HOUR);
    const now = timing.now();
    lists(payment("NEW", doubtful(now + 3 * HOUR - MINUTE)), payment("OLD", doubtful(now - HOUR)));
    await start();
    expect(receipts()).to.deep.equal(["NEW", "OLD"]);
    expect(paidAt()).to.deep.equal([now - MINUTE, now - 4 * HOUR]);
  });

  it("believes no time after the book has learned the receipt", async () => {
    await timing.pass(10 * HOUR, HOUR);
    const now = timing.now();
    deposits.booked.add("KNOWN");
    deposits.told.set("KNOWN", { learnedAt: toUnixMillis(now - 5 * HOUR), orderedAt: undefined });
    lists(payment("KNOWN", doubtful(now - 2 * HOUR)), payment("R1", doubtful(now - HOUR)));
    await start();
    expect(paidAt()).to.deep.equal([now - 4 * HOUR]);
  });

  it("believes UTC where the other clock is before the order, and takes a payment right after the registration", async () => {
    const { since } = deposits.list(ID);
    await timing.pass(HOUR, HOUR);
    const now = timing.now();
    deposits.booked.add("OF ORDER");
    deposits.told.set("OF ORDER", { learnedAt: now, orderedAt: toUnixMillis(now - MINUTE) });
    lists(payment("OF ORDER", doubtful(now)), payment("R1", doubtful(since + MINUTE)));
    await start();
    expect(paidAt()).to.deep.equal([since + MINUTE]);
  });

  it("takes UTC at its word where nothing contradicts it, and neither clock is from before the registration", async () => {
    await timing.pass(10 * HOUR, HOUR);
    const now = timing.now();
    lists(payment("R1", doubtful(now - MINUTE)));
    await start();
    expect(paidAt()).to.deep.equal([now - MINUTE]);
  });

  it("shows a row of a kind that credits nobody once, and warns of a kind that nobody knows", async () => {
    const receivedAt = timing.now();
    const others = [
      { receipt: "SWEEP" as RailReceipt, receivedAt, kind: "settlement", isKnown: true },
      { receipt: "NEW" as RailReceipt, receivedAt, kind: "a-new-kind", isKnown: false },
    ];
    rail.onList = () => Promise.resolve({ kind: "complete", payments: [], unreadable: [], others });
    await start();
    const warned = { kind: "rows not credited", railAccountId: ID, unreadable: 0, unclear: 0 };
    expect(events).to.deep.equal([
      { ...warned, unknownKinds: ["a-new-kind"], receipts: ["NEW"] },
      { kind: "other rows", railAccountId: ID, kinds: ["settlement"], receipts: ["SWEEP"] },
    ]);
    expect(sweeper.unreadableRows).to.equal(1);
    await timing.pass(6 * SECOND);
    expect(kinds().filter((kind) => kind === "other rows")).to.have.lengthOf(1);
    expect(receipts()).to.deep.equal([]);
  });

  it("reads on after 5 s, 30 s and 2 min, then every 10 min, if nothing is new", async () => {
    await start();
    const times = async (...millis: readonly number[]): Promise<readonly number[]> => {
      const counts: number[] = [];
      for (const each of millis) {
        await timing.pass(each);
        counts.push(rail.periods.length);
      }
      return counts;
    };
    expect(await times(0, 4 * SECOND, 2 * SECOND, 28 * SECOND, 3 * SECOND, MINUTE, MINUTE + 2 * SECOND)).to.deep.equal([
      1, 1, 2, 2, 3, 3, 4,
    ]);
    expect(await times(9 * MINUTE, MINUTE + SECOND, 10 * MINUTE)).to.deep.equal([4, 5, 6]);
  });

  it("warns of a list that stays empty after a confirmation", async () => {
    await start();
    await timing.pass(MINUTE);
    expect(kinds()).to.deep.equal([]);
    await timing.pass(10 * MINUTE);
    expect(kinds()).to.deep.equal(["empty list"]);
  });

  it("reads at most one list a minute while confirmations bring nothing, and at once after one that does", async () => {
    await start();
    for (let seconds = 0; seconds < 600; seconds += 1) {
      deposits.confirm(ID, timing.now());
      await timing.pass(SECOND);
    }
    expect(rail.periods.length).to.be.within(10, 13);
    lists(payment("R1"));
    await timing.pass(MINUTE + SECOND);
    expect(receipts()).to.deep.equal(["R1"]);
    const before = rail.periods.length;
    deposits.confirm(ID, timing.now());
    await timing.pass(SECOND);
    expect(rail.periods.length).to.equal(before + 1);
  });

  it("does not forget a confirmation that came while the list was read", async () => {
    const { promise, resolve } = Promise.withResolvers<ReceivedPayments>();
    rail.onList = () => promise;
    await start();
    await timing.pass(SECOND);
    expect(rail.periods).to.have.lengthOf(1);
    deposits.confirm(ID, timing.now());
    lists(payment("R1"));
    resolve({ kind: "complete", payments: [], unreadable: [] });
    await timing.pass(3 * SECOND);
    expect(receipts()).to.deep.equal(["R1"]);
  });

  it("tries a list that failed again after a minute", async () => {
    rail.onList = () => Promise.resolve({ kind: "failed", code: "HTTP_502" });
    await start();
    await timing.pass(59 * SECOND);
    expect(events).to.deep.equal([{ kind: "no list", railAccountId: ID, code: "HTTP_502" }]);
    lists(payment("R1"));
    await timing.pass(2 * SECOND);
    expect(receipts()).to.deep.equal(["R1"]);
  });

  it("books the payments beside a row that cannot be read, and tells that row until somebody has booked it", async () => {
    const { since } = deposits.list(ID);
    const unreadable = [
      { receipt: "BAD1" as RailReceipt, receivedAt: since },
      { receipt: undefined, receivedAt: undefined },
      { receipt: "BEFORE" as RailReceipt, receivedAt: toUnixMillis(since - 10_001) },
      { receipt: "R1" as RailReceipt, receivedAt: since },
    ];
    rail.onList = () => Promise.resolve({ kind: "complete", payments: [payment("R1")], unreadable });
    await start();
    expect(receipts()).to.deep.equal(["R1"]);
    expect(events.slice(1)).to.deep.equal([
      {
        kind: "rows not credited",
        railAccountId: ID,
        unreadable: 2,
        unclear: 0,
        unknownKinds: [],
        receipts: ["BAD1"],
      },
    ]);
    expect(sweeper.unreadableRows).to.equal(2);
    deposits.booked.add("BAD1");
    await timing.pass(3 * MINUTE);
    expect(sweeper.unreadableRows).to.equal(1);
    leftMillis = 0;
    await timing.pass(21 * MINUTE, MINUTE);
    expect(sweeper.unreadableRows, "of another server").to.equal(0);
  });

  for (const [what, refusal, kind] of [
    ["refuses", "QUEUE_FULL", "payment not booked"],
    ["cannot decide", "throws", "error"],
  ] as const) {
    it(`tries what the ledger ${what} again after a minute`, async () => {
      refuse = refusal;
      lists(payment("R1"));
      await start();
      expect(kinds()).to.deep.equal([kind]);
      refuse = undefined;
      await timing.pass(59 * SECOND);
      expect(receipts()).to.have.lengthOf(1);
      await timing.pass(2 * SECOND);
      expect(receipts()).to.deep.equal(["R1", "R1"]);
      expect(deposits.list(ID).readAt).not.to.equal(undefined);
    });
  }

  it("holds a payment without a name back while it may be that of an order, for a day at most", async () => {
    deposits.hasOrder = true;
    const at = timing.now();
    lists(payment("R1", { reference: "JOHN" }), payment("R2"), payment("R3", { reference: "" }));
    await start();
    expect(receipts()).to.deep.equal(["R2"]);
    expect(deposits.possible[0]).to.deep.equal({
      railAccountId: ID,
      amountCents: 100_00,
      acceptedFrom: at - DAY_MILLIS,
      acceptedTo: at + 5 * MINUTE,
    });
    await timing.pass(DAY_MILLIS - 11 * MINUTE, MINUTE);
    expect(receipts()).to.deep.equal(["R2"]);
    await timing.pass(30 * MINUTE, MINUTE);
    expect(receipts()).to.have.members(["R1", "R2", "R3"]);
  });

  it("books a payment that was held back once its order has another receipt", async () => {
    deposits.hasOrder = true;
    lists(payment("R1", { reference: "JOHN" }));
    await start();
    deposits.hasOrder = false;
    await timing.pass(6 * SECOND);
    expect(receipts()).to.deep.equal(["R1"]);
  });

  it("reads nothing without the lease, of an account that cannot be used, or of a rail without lists", async () => {
    leftMillis = 0;
    await start();
    expect([rail.periods, deposits.erasedLooks]).to.deep.equal([[], []]);
    leftMillis = Infinity;
    deposits.add({ ...deposits.list(ID), railAccountId: "rail_2" as RailAccountId });
    Object.defineProperty(rail, "receivedPayments", { value: undefined });
    await timing.pass(SECOND);
    expect(events).to.deep.equal([{ kind: "no list", railAccountId: ID, code: "NO_LIST" }]);
  });

  it("reports an error of the database, and goes on", async () => {
    let fails = true;
    const read = deposits.dueLists.bind(deposits);
    deposits.dueLists = (now) => (fails ? Promise.reject(new Error("gone")) : read(now));
    await start();
    expect(kinds()).to.deep.equal(["error"]);
    fails = false;
    lists(payment("R1"));
    await timing.pass(SECOND);
    expect(receipts()).to.deep.equal(["R1"]);
  });

  it("stops in the middle of a list, which is due still", async () => {
    const { promise, resolve } = Promise.withResolvers<ReceivedPayments>();
    rail.onList = () => promise;
    await start();
    const stopped = sweeper.stop();
    resolve({ kind: "complete", payments: [payment("R1")], unreadable: [] });
    await stopped;
    expect([receipts(), deposits.list(ID).readAt]).to.deep.equal([[], undefined]);
  });

  describe("besides", () => {
    it("removes what payers typed once it is old, and what belongs to erased persons", async () => {
      deposits.nextErased = toUnixMillis(7);
      await start();
      expect(deposits.forgotten).to.deep.equal([{ before: timing.now() - DAY_MILLIS, limit: 5_000 }]);
      deposits.nextErased = undefined;
      await timing.pass(3 * MINUTE);
      expect(deposits.erasedLooks).to.deep.equal([0, 7, 0, 0]);
    });

    it("goes on at the next look while there is more to remove", async () => {
      deposits.typed = 5_000;
      await start();
      await timing.pass(SECOND);
      deposits.typed = 0;
      await timing.pass(30 * SECOND);
      expect(deposits.forgotten).to.have.lengthOf(4);
    });
  });
});
