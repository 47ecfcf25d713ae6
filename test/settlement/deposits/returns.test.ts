import { expect } from "chai";
import fc from "fast-check";

import type { Deposit } from "../../../src/domain/deposit.js";
import { type EndReturn, endReturn } from "../../../src/domain/deposits/end-return.js";
import type { RailReceipt } from "../../../src/domain/payment.js";
import type { PaymentRail, ReturnReport, Sent } from "../../../src/rails/rail.js";
import { verdictOf } from "../../../src/settlement/deposits/return-verdict.js";
import { DepositReturns } from "../../../src/settlement/deposits/returns.js";
import { RailFaults } from "../../../src/settlement/faults.js";
import type { ReturnRequest } from "../../../src/settlement/ports/deposits.js";
import type { RailAccount } from "../../../src/settlement/ports/rail-accounts.js";
import type { SettlementEvent, Submit } from "../../../src/settlement/ports/runtime.js";
import { MemoryInbox } from "../../attack/simulation/rails/memory-inbox.js";
import { givenBook, givenDeposit } from "../../support/given.js";
import { newDepositId, NOW, RAIL_TERMS } from "../../support/names.js";
import { ManualTiming, settled } from "../support/manual-timing.js";
import { ScriptedRail } from "../support/scripted-rail.js";
import { MemoryDeposits } from "./memory-deposits.js";

const [SECOND, MINUTE, HOUR] = [1_000, 60_000, 3_600_000];
const DAY = 24 * HOUR;
const RECEIPT = "BACK" as RailReceipt;

/** What happens to one request at the rail. */
interface Fate {
  readonly answer: "accepted" | "lost" | "unreached" | "rejected" | "crash before" | "crash after";
  readonly result: "told" | "lost" | "told twice";
  /** Whether the rail lacks the money, so that it refuses. */
  readonly isShort: boolean;
  readonly afterMillis: number;
}

const GOOD: Fate = { answer: "accepted", result: "told", isShort: false, afterMillis: 2 * SECOND };

/** A rail that returns a payment once, and loses answers and results. */
class ReturningRail extends ScriptedRail {
  readonly #world: World;
  requests = 0;
  /** How often the money went back. */
  returned = 0;
  /** The requests that the rail has and has not carried out. */
  open = 0;

  constructor(world: World) {
    super();
    this.#world = world;
  }

  async returnPayment(): Promise<Sent> {
    const { answer, ...fate } = this.#world.nextFate();
    this.requests += 1;
    const name = `request ${String(this.requests)}`;
    if (answer === "crash before") return this.#crash();
    if (answer === "unreached") return { kind: "unreached", code: "BUSY", retryAfterMillis: MINUTE };
    if (answer === "rejected") return { kind: "rejected", code: "400.002.02", failure: "RAIL_REFUSED" };
    this.open += 1;
    this.#world.after(fate.afterMillis, () => this.#carryOut(name, fate));
    if (answer === "crash after") return this.#crash();
    return answer === "lost" ? { kind: "unknown", code: "NO_ANSWER" } : { kind: "accepted", railReference: name };
  }

  /** The message is the report itself. */
  readReturn(body: string): ReturnReport {
    return JSON.parse(body) as ReturnReport;
  }

  async #carryOut(request: string, { result, isShort }: Omit<Fate, "answer">): Promise<void> {
    this.open -= 1;
    const isFirst = this.returned === 0;
    if (isFirst && !isShort) this.returned += 1;
    // It looks at its own balance first: a refusal does not say that the money is still there.
    const report: ReturnReport = isShort
      ? { kind: "refused", request, code: "1" }
      : isFirst
        ? { kind: "returned", request, receipt: RECEIPT }
        : { kind: "returned before", request, code: "R000001" };
    for (let times = result === "lost" ? 0 : result === "told" ? 1 : 2; times > 0; times -= 1) {
      await this.#world.tell(report);
    }
  }

  /** The server stops, and another one begins: nobody hears the answer. */
  #crash(): Promise<Sent> {
    this.#world.restart();
    return new Promise(() => undefined);
  }
}

/** One deposit that is RETURNING, its book, and the servers that come and go. */
class World {
  readonly timing = new ManualTiming();
  readonly deposits = new MemoryDeposits();
  readonly inbox = new MemoryInbox();
  readonly rail = new ReturningRail(this);
  readonly events: SettlementEvent[] = [];
  deposit: Deposit;
  ends: EndReturn[] = [];
  #fates: Fate[];
  #returns: DepositReturns;
  #later: { readonly at: number; readonly run: () => Promise<void> }[] = [];

  constructor(fates: readonly Fate[]) {
    this.#fates = [...fates];
    this.deposit = givenDeposit({ status: "RETURNING", reason: undefined, updatedAt: NOW });
    const { id: depositId, organizationId, receipt, amountCents } = this.deposit;
    const { railAccountId } = RAIL_TERMS;
    const due = { depositId, organizationId, railAccountId, receipt, amountCents, requests: [] };
    this.deposits.returns.set(depositId, { ...due, begunAt: NOW, dueAt: NOW });
    this.#returns = this.#newReturns();
  }

  nextFate(): Fate {
    return this.#fates.shift() ?? GOOD;
  }

  after(millis: number, run: () => Promise<void>): void {
    this.#later.push({ at: this.timing.now() + millis, run });
  }

  async tell(report: ReturnReport): Promise<void> {
    await this.inbox.addAboutReturn(this.deposit.id, JSON.stringify(report));
    this.deposits.report(this.deposit.id, this.timing.now());
  }

  restart(): void {
    this.#returns = this.#newReturns();
  }

  /** Lets so much time pass, from one moment at which something happens to the next. */
  async pass(millis: number): Promise<void> {
    const until = this.timing.now() + millis;
    for (;;) {
      await this.#look();
      const due = [...this.deposits.returns.values()].map(({ dueAt }) => dueAt);
      const next = Math.min(until, ...this.#later.map(({ at }) => at), ...due);
      if (this.timing.now() >= until) return;
      await this.timing.pass(Math.max(next - this.timing.now(), SECOND));
      const now = this.timing.now();
      const ready = this.#later.filter(({ at }) => at <= now);
      this.#later = this.#later.filter(({ at }) => at > now);
      for (const { run } of ready) await run();
    }
  }

  get unclear(): readonly string[] {
    return this.events.flatMap((event) => (event.kind === "return unclear" ? [event.code] : []));
  }

  async #look(): Promise<void> {
    await this.#returns.look();
    await settled();
    for (const event of this.events) if (event.kind === "error") throw event.error;
  }

  #newReturns(): DepositReturns {
    const rail: PaymentRail = this.rail;
    return new DepositReturns({
      deposits: this.deposits,
      inbox: this.inbox,
      railAccounts: { account: () => ({ rail }) as unknown as RailAccount },
      lease: { leftMillis: () => Infinity },
      faults: faultsOf(this),
      submit: ((command: EndReturn) => Promise.resolve(this.#end(command))) as unknown as Submit,
      timing: this.timing,
      onEvent: (event) => this.events.push(event),
    });
  }

  #end(command: EndReturn): object {
    this.ends.push(command);
    const decision = endReturn.decide(
      givenBook({ deposits: [this.deposit] }),
      command,
      this.timing.now(),
      this.timing.now(),
    );
    if (decision.kind === "refusal") return { kind: "refused", refusal: decision.refusal };
    this.deposit = decision.resource;
    this.deposits.returns.delete(this.deposit.id);
    return { kind: "done", resource: this.deposit, replayed: decision.kind === "replay" };
  }
}

describe("the return of a deposit", () => {
  it("is booked once the rail tells the result of a request of ours", async () => {
    const world = new World([]);
    await world.pass(MINUTE);
    expect(world.deposit.status).to.equal("RETURNED");
    expect(world.ends.map(({ receipt }) => receipt)).to.deep.equal([RECEIPT]);
    expect(world.rail.requests).to.equal(1);
  });

  for (const [what, fates, status, requests, millis] of [
    ["waits again after a refusal", [{ ...GOOD, isShort: true }], "UNALLOCATED", 1, MINUTE],
    ["waits again after a refusal in the answer", [{ ...GOOD, answer: "rejected" }], "UNALLOCATED", 1, MINUTE],
    ["is asked for again if the rail was not reached", [{ ...GOOD, answer: "unreached" }], "RETURNED", 2, 3 * MINUTE],
    ["is asked for again after a lost answer", [{ ...GOOD, answer: "lost" }], "RETURNED", 2, 3 * MINUTE],
    ["is asked for again after a crash", [{ ...GOOD, answer: "crash after" }], "RETURNED", 2, 3 * MINUTE],
    [
      "does not wait again while a request has no answer, which may have moved the money",
      [
        { ...GOOD, answer: "lost", result: "lost" },
        { ...GOOD, isShort: true, result: "told" },
      ],
      "RETURNING",
      2,
      11 * MINUTE,
    ],
  ] as const) {
    it(what, async () => {
      const world = new World(fates);
      await world.pass(millis);
      expect([world.deposit.status, world.rail.requests]).to.deep.equal([status, requests]);
      expect(world.unclear).to.deep.equal([]);
    });
  }

  it("needs a person if the rail says that it was returned before, and nobody says with which receipt", async () => {
    const world = new World([{ ...GOOD, result: "lost" }]);
    await world.pass(HOUR);
    expect([world.deposit.status, world.rail.requests]).to.deep.equal(["RETURNING", 2]);
    expect(world.unclear).to.deep.equal(["R000001"]);
    await world.pass(DAY);
    expect(world.rail.requests).to.equal(2);
    // The lost result comes late.
    await world.tell({ kind: "returned", request: "request 1", receipt: RECEIPT });
    await world.pass(SECOND);
    expect(world.deposit.status).to.equal("RETURNED");
  });

  it("needs a person after 48 hours without a result, and is asked for once a day from then on", async () => {
    const world = new World(Array.from({ length: 60 }, () => ({ ...GOOD, answer: "lost", result: "lost" }) as const));
    await world.pass(48 * HOUR - MINUTE);
    expect(world.unclear).to.deep.equal([]);
    await world.pass(DAY);
    expect(world.unclear).not.to.deep.equal([]);
    const { requests } = world.rail;
    await world.pass(3 * DAY);
    expect(world.rail.requests - requests).to.be.within(2, 3);
    expect(world.deposit.status).to.equal("RETURNING");
  });

  it("is asked for at no rail that cannot, and needs a person", async () => {
    const world = new World([]);
    Object.assign(world.rail, { returnPayment: undefined });
    await world.pass(MINUTE);
    expect(world.unclear).to.deep.equal(["NO_RAIL_ACCOUNT"]);
  });

  it("has at most 32 requests under way at a rail that does not answer", async () => {
    const world = new World([]);
    const [first] = world.deposits.returns.values();
    if (first === undefined) throw new Error("nothing is due");
    for (let count = 0; count < 99; count += 1) {
      const depositId = newDepositId();
      world.deposits.returns.set(depositId, { ...first, depositId });
    }
    let asked = 0;
    const returnPayment = (): Promise<Sent> => {
      asked += 1;
      return new Promise(() => undefined);
    };
    Object.assign(world.rail, { returnPayment });
    await world.pass(5 * SECOND);
    expect(asked).to.equal(32);
  });

  it("needs a person if the book has the receipt for other shillings", async () => {
    const world = new World([]);
    const used = () => ({ kind: "refused", refusal: { reason: "RECEIPT_ALREADY_USED" } });
    Object.assign(world, { deposit: { ...world.deposit } });
    const returns = new DepositReturns({
      deposits: world.deposits,
      inbox: world.inbox,
      railAccounts: { account: () => ({ rail: world.rail }) as unknown as RailAccount },
      lease: { leftMillis: () => Infinity },
      faults: faultsOf(world),
      submit: (() => Promise.resolve(used())) as unknown as Submit,
      timing: world.timing,
      onEvent: (event) => world.events.push(event),
    });
    await returns.look();
    await settled();
    await world.tell({ kind: "returned", request: "request 1", receipt: RECEIPT });
    await returns.look();
    await settled();
    expect(world.unclear).to.deep.equal(["RECEIPT_ALREADY_USED"]);
    await returns.stop();
  });

  const fate = fc.record<Fate>({
    answer: fc.constantFrom("accepted", "accepted", "lost", "unreached", "rejected", "crash before", "crash after"),
    result: fc.constantFrom("told", "told", "lost", "told twice"),
    isShort: fc.boolean(),
    afterMillis: fc.constantFrom(0, SECOND, 3 * MINUTE, 30 * MINUTE),
  });
  const forged = fc.record({
    at: fc.integer({ min: 0, max: 12 * HOUR }),
    report: fc.constantFrom<ReturnReport>(
      { kind: "returned", request: "forged", receipt: RECEIPT },
      { kind: "refused", request: "forged", code: "1" },
      { kind: "refused", request: undefined, code: "1" },
      { kind: "returned before", request: "forged", code: "R000001" },
    ),
  });

  it("ends as the rail has moved the money, whatever is lost, forged or crashes", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fate, { maxLength: 8 }),
        fc.array(forged, { maxLength: 3 }),
        async (fates, forgeries) => {
          const world = new World(fates);
          for (const { at, report } of forgeries) world.after(at, () => world.tell(report));
          await world.pass(4 * DAY);
          const { status } = world.deposit;
          expect(world.rail.returned).to.be.within(0, 1);
          expect(world.rail.open).to.equal(0);
          if (status === "RETURNED") expect(world.rail.returned).to.equal(1);
          if (status === "UNALLOCATED") expect(world.rail.returned).to.equal(0);
          if (status === "RETURNING") expect(world.unclear).not.to.deep.equal([]);
        },
      ),
    );
  });
});

describe("what is known about a return", () => {
  const named: ReturnRequest = { at: NOW, result: "accepted", name: "ours" };
  const lost: ReturnRequest = { at: NOW, result: "unknown", code: "NO_ANSWER" };
  const unreached: ReturnRequest = { at: NOW, result: "unreached", code: "BUSY" };
  const refused: ReturnReport = { kind: "refused", request: "ours", code: "1" };
  const returned: ReturnReport = { kind: "returned", request: "ours", receipt: RECEIPT };
  const before: ReturnReport = { kind: "returned before", request: "ours", code: "R000001" };
  const forged = { request: "forged" };
  for (const [what, requests, reports, verdict] of [
    ["nothing was sent", [], [], { kind: "open" }],
    ["the rail has not answered", [named], [], { kind: "open" }],
    ["the rail has returned it", [named], [returned], { kind: "returned", receipt: RECEIPT }],
    ["somebody forges a return", [named], [{ ...returned, ...forged }], { kind: "open" }],
    ["somebody forges a refusal", [named], [{ ...refused, ...forged }], { kind: "open" }],
    ["somebody says nothing about a request", [named], [{ ...refused, request: undefined }], { kind: "open" }],
    ["the rail refuses the only request", [named], [refused], { kind: "refused", code: "1" }],
    ["the rail refuses one of two", [lost, named], [refused], { kind: "open" }],
    ["the other one has not reached the rail", [unreached, named], [refused], { kind: "refused", code: "1" }],
    [
      "the answer itself is a refusal",
      [{ at: NOW, result: "rejected", code: "400.002.02" }],
      [],
      { kind: "refused", code: "400.002.02" },
    ],
    ["no request has reached the rail", [unreached], [], { kind: "open" }],
    ["it went back before", [named], [before], { kind: "returned before", code: "R000001" }],
    [
      "it went back before, and a message has the receipt",
      [lost, named],
      [{ ...returned, request: "lost" }, before],
      { kind: "returned", receipt: RECEIPT },
    ],
  ] as const) {
    it(`is "${verdict.kind}" if ${what}`, () => {
      expect(verdictOf(requests, reports)).to.deep.equal(verdict);
    });
  }
});

function faultsOf({ timing }: Pick<World, "timing">): RailFaults {
  const submitWatch = () => Promise.reject(new Error("the test has no ledger"));
  return new RailFaults({ submitWatch, timing, onEvent: () => undefined });
}
