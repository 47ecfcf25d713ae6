import { randomUUID } from "node:crypto";

import { expect } from "chai";
import fc from "fast-check";

import type { FailureReason } from "../../src/domain/payment.js";
import { TRANSACTION_TYPES, type TransactionType } from "../../src/domain/transaction.js";
import { type Cents, toCents } from "../../src/domain/values/cents.js";
import { canBePhone } from "../../src/domain/values/masked-phone.js";
import { isPayable } from "../../src/domain/values/payable-amounts.js";
import type { PhoneNumber } from "../../src/domain/values/phone-number.js";
import type { UnixMillis } from "../../src/domain/values/time.js";
import type { CallbackPurpose } from "../../src/rails/callback-token.js";
import type { OpenPayment } from "../../src/rails/order.js";
import type { PaymentRail, RailMessage, RailReport, Sent } from "../../src/rails/rail.js";
import { type BegunOrder, payment, phone, questionAbout } from "./support/orders.js";

/** A rail with what a test must see of the world behind it. */
export interface RailUnderTest {
  readonly rail: PaymentRail;
  now(): UnixMillis;
  /** Lets time pass at the rail. Resolves when all messages of that time have arrived. */
  pass(millis: number): Promise<void>;
  /** Every message about the payment that has arrived so far, oldest first. */
  messages(payment: OpenPayment): readonly RailMessage[];
  /** How often the rail moved shillings for the payment. */
  movements(payment: OpenPayment): Promise<number>;
  stop(): Promise<void>;
}

type Succeeded = Extract<RailReport, { kind: "succeeded" }>;

const NEVER = new AbortController().signal;
const ROUND_MILLIS = 10_000;
const LATE_MILLIS = 300_000;
const ROUNDS_MAX = 30;
const SENDS_MAX = 20;

// What the last two digits of a phone number choose, in every rail for tests.
const ENDINGS = {
  usual: "00",
  messageLost: "05",
  twice: "06",
  answerLost: "08",
  unreached: "09",
  slow: "11",
  late: "12",
};
const FAILURES: readonly [digits: string, Readonly<Record<TransactionType, FailureReason>>][] = [
  ["01", { MINT: "CANCELED_BY_PAYER", REDEEM: "RECIPIENT_NOT_REGISTERED" }],
  ["02", { MINT: "PAYER_UNREACHABLE", REDEEM: "RECIPIENT_LIMIT" }],
  ["03", { MINT: "PAYER_SHORT_OF_FUNDS", REDEEM: "RAIL_ACCOUNT_SHORT" }],
  ["04", { MINT: "WRONG_PIN", REDEEM: "RAIL_REFUSED" }],
];

/** What every rail must do, whatever is behind it. */
export function railContract(name: string, start: () => Promise<RailUnderTest>): void {
  describe(`the ${name} rail keeps the contract of a rail`, () => {
    let world: RailUnderTest;

    beforeEach(async () => {
      world = await start();
    });

    afterEach(() => world.stop());

    for (const direction of TRANSACTION_TYPES) {
      describe(direction === "MINT" ? "when it collects" : "when it pays out", () => {
        contractOf(direction, () => world);
      });
    }

    it("has no balance where its signal has aborted before", async () => {
      expect((await world.rail.askBalance(randomUUID(), AbortSignal.abort())).kind).to.equal("unavailable");
    });

    it("never throws for a message, and never changes one", () => {
      const anyPurpose = fc.constantFrom<CallbackPurpose>("collect", "pay_out", "timeout", "status", "balance");
      const anyDirection = fc.constantFrom(...TRANSACTION_TYPES);
      fc.assert(
        fc.property(anyPurpose, fc.oneof(fc.string(), fc.json()), anyDirection, (purpose, body, direction) => {
          const message = Object.freeze({ purpose, body });
          expect(world.rail.read(message, Object.freeze(payment(direction)))).to.equal(undefined);
          expect(world.rail.readBalance(message)).to.equal(undefined);
        }),
      );
    });
  });
}

function contractOf(direction: TransactionType, given: () => RailUnderTest): void {
  let world: RailUnderTest;
  let rail: PaymentRail;

  beforeEach(() => {
    world = given();
    rail = world.rail;
  });

  function order(digits = ENDINGS.usual, amountCents: Cents = toCents(100_00)): BegunOrder {
    const now = world.now();
    const number = phone(`+2547000000${digits}`);
    return payment(direction, { number, amountCents, acceptedAt: now, begunAt: now });
  }

  /** Sends the order until the rail was reached. Returns what is stored about it then. */
  async function begun(unsent: BegunOrder): Promise<{ sent: Sent; about: BegunOrder }> {
    for (let sends = 0; sends < SENDS_MAX; sends += 1) {
      const about = { ...unsent, begunAt: world.now() };
      const sent = await rail.send(about, NEVER);
      if (sent.kind !== "unreached") {
        return { sent, about: { ...about, railReference: sent.kind === "accepted" ? sent.railReference : undefined } };
      }
      await world.pass(sent.retryAfterMillis);
    }
    throw new Error("the rail was not reached");
  }

  /** Asks, and reads the messages that arrive after the first `seen`, until one of them knows. */
  async function outcome(about: OpenPayment, seen = 0): Promise<Exclude<RailReport, { kind: "open" }>> {
    for (let round = 0; round < ROUNDS_MAX; round += 1) {
      const asked = await rail.query(about, NEVER, questionAbout(about));
      if (asked.kind !== "open") return asked;
      await world.pass(ROUND_MILLIS);
      for (const message of world.messages(about).slice(seen)) {
        const report = rail.read(message, about);
        if (report !== undefined && report.kind !== "open") return report;
      }
    }
    throw new Error("nobody knows the outcome");
  }

  async function expectSuccess(report: RailReport, about: BegunOrder): Promise<void> {
    expect(report.kind).to.equal("succeeded");
    const { movement, amountCents, phone: paidBy } = report as Succeeded;
    expect(movement, "movement").to.be.a("string");
    expect(amountCents ?? about.amountCents).to.equal(about.amountCents);
    expect(
      paidBy === undefined || canBePhone(paidBy, about.number as PhoneNumber),
      "the phone number of the order",
    ).to.equal(true);
    expect(await world.movements(about), "movements at the rail").to.equal(1);
  }

  it("says when to ask for the outcome", () => {
    expect(rail.checkAfterMillis).to.have.length.at.least(1);
    expect(Math.min(...rail.checkAfterMillis)).to.be.at.least(1_000);
  });

  it("says what it can move", () => {
    const { minCents, maxCents, stepCents, phoneNumbers } = rail.capabilities(direction);
    expect(stepCents).to.be.at.least(1);
    expect([isPayable(minCents, rail.capabilities(direction)), minCents <= maxCents]).to.deep.equal([true, true]);
    // A pattern with a state would accept a number only every other time.
    const accepted = [1, 2].map(() => phoneNumbers.test(phone("0708374149")));
    expect(accepted).to.deep.equal([true, true]);
  });

  it("moves the ordered shillings once, and says so", async () => {
    const { sent, about } = await begun(order());
    expect(sent.kind).to.equal("accepted");
    await expectSuccess(await outcome(about), about);
  });

  it("gives one movement one name and one receipt, in every report", async () => {
    const { about } = await begun(order(ENDINGS.twice));
    const reports: RailReport[] = [await outcome(about)];
    await world.pass(LATE_MILLIS);
    for (const message of world.messages(about)) {
      const report = rail.read(message, about);
      if (report !== undefined) reports.push(report);
      expect(rail.read(message, about), "the same text, read again").to.deep.equal(report);
    }
    const succeeded = reports.filter((report) => report.kind === "succeeded");
    expect(succeeded).to.have.length.above(2);
    expect(new Set(succeeded.map(({ movement }) => movement)).size).to.equal(1);
    expect(new Set(succeeded.flatMap(({ receipt }) => receipt ?? [])).size).to.equal(1);
    expect(await world.movements(about)).to.equal(1);
  });

  for (const [digits, reasons] of FAILURES) {
    it(`says why it moved nothing: ${reasons[direction]}`, async () => {
      const { about } = await begun(order(digits));
      const report = await outcome(about);
      expect(report).to.include({ kind: "failed", failure: reasons[direction] });
      expect(report.kind === "failed" && report.code).to.match(/^[\w.-]+$/);
      expect(await world.movements(about)).to.equal(0);
    });
  }

  it("finds out by a query if its message is lost", async () => {
    const { about } = await begun(order(ENDINGS.messageLost));
    await expectSuccess(await outcome(about), about);
  });

  it("does not claim to know the outcome if its answer is lost", async () => {
    const { sent, about } = await begun(order(ENDINGS.answerLost));
    expect(sent.kind).to.equal("unknown");
    await expectSuccess(await outcome(about), about);
  });

  it("proves that it was not reached by moving nothing", async () => {
    const unsent = order(ENDINGS.unreached);
    const sent = await rail.send(unsent, NEVER);
    expect(sent.kind).to.equal("unreached");
    await world.pass(sent.kind === "unreached" ? sent.retryAfterMillis : 0);
    expect(await world.movements(unsent)).to.equal(0);
    const { about } = await begun(unsent);
    await expectSuccess(await outcome(about), about);
  });

  it("stays open while the outcome is not known", async () => {
    const { about } = await begun(order(ENDINGS.slow));
    expect((await rail.query(about, NEVER, questionAbout(about))).kind).to.equal("open");
    expect((await rail.query(about, NEVER, questionAbout(about))).kind).to.equal("open");
    await expectSuccess(await outcome(about), about);
  });

  it("tells of a late success after it told of a failure", async () => {
    const { about } = await begun(order(ENDINGS.late));
    expect((await outcome(about)).kind).to.equal("failed");
    const seen = world.messages(about).length;
    await world.pass(LATE_MILLIS);
    await expectSuccess(await outcome(about, seen), about);
  });

  it("does not move the shillings of one payout twice, however often it is sent", async () => {
    if (direction === "MINT") return; // A second prompt would be a second order.
    const { about } = await begun(order());
    for (let again = 0; again < 3; again += 1) expect((await rail.send(about, NEVER)).kind).to.equal("accepted");
    await expectSuccess(await outcome(about), about);
    expect((await rail.send(about, NEVER)).kind).to.equal("accepted");
    await world.pass(LATE_MILLIS);
    expect(await world.movements(about)).to.equal(1);
  });

  it("rejects an amount that it cannot move, and never rounds it", async () => {
    const { minCents, maxCents, stepCents } = rail.capabilities(direction);
    const amounts = [minCents - 1, maxCents + 1, ...(stepCents > 1 ? [minCents + 1, minCents + stepCents - 1] : [])];
    for (const amountCents of amounts.filter((cents) => cents > 0)) {
      const unsent = order(ENDINGS.usual, toCents(amountCents));
      expect((await rail.send(unsent, NEVER)).kind, String(amountCents)).to.equal("rejected");
      await world.pass(LATE_MILLIS);
      expect(await world.movements(unsent)).to.equal(0);
    }
  });

  it("rejects a phone number that it cannot serve", async () => {
    const unsent = { ...order(), number: phone("+442079460958") };
    expect(rail.capabilities(direction).phoneNumbers.test(unsent.number)).to.equal(false);
    expect((await rail.send(unsent, NEVER)).kind).to.equal("rejected");
    expect(await world.movements(unsent)).to.equal(0);
  });

  it("sends nothing where its signal has aborted before", async () => {
    const unsent = order();
    expect((await rail.send(unsent, AbortSignal.abort())).kind).to.equal("unreached");
    await world.pass(LATE_MILLIS);
    expect(await world.movements(unsent)).to.equal(0);
    expect(
      (await rail.query({ ...unsent, railReference: "a-reference" }, AbortSignal.abort(), questionAbout(unsent))).kind,
    ).to.equal("open");
  });
}
