import { expect } from "chai";

import type { AmountLimits } from "../../../src/domain/limits/limits.js";
import { counted, givenBack, limitStates, reachedLimit, usageAt } from "../../../src/domain/limits/usage.js";
import { toCents } from "../../../src/domain/values/cents.js";
import { toUnixMillis, type UnixMillis } from "../../../src/domain/values/time.js";

function at(local: string): UnixMillis {
  return toUnixMillis(new Date(`${local}+03:00`).getTime());
}

const MINT = { type: "MINT", amountCents: toCents(100) } as const;
const REDEEM = { type: "REDEEM", amountCents: toCents(30) } as const;
const JANUARY_31 = at("2026-01-31T23:59:59.999");
const JANUARY_ENDS = at("2026-02-01T00:00:00");

describe("the usage of limits", () => {
  it("counts in the day and the month of Nairobi", () => {
    const usage = counted(counted(usageAt(undefined, JANUARY_31), MINT), REDEEM);
    expect(usage).to.deep.equal({
      day: { from: at("2026-01-31T00:00:00"), MINT: 100, REDEEM: 30 },
      month: { from: at("2026-01-01T00:00:00"), MINT: 100, REDEEM: 30 },
    });
  });

  it("stays until midnight in Nairobi, then begins a day, and a month on its first day", () => {
    const usage = counted(usageAt(undefined, at("2026-01-30T12:00:00")), MINT);
    expect(usageAt(usage, at("2026-01-30T23:59:59.999"))).to.equal(usage);
    expect(usageAt(usage, at("2026-01-31T00:00:00"))).to.deep.equal({
      day: { from: at("2026-01-31T00:00:00"), MINT: 0, REDEEM: 0 },
      month: usage.month,
    });
    expect(usageAt(usage, JANUARY_ENDS)).to.deep.equal({
      day: { from: JANUARY_ENDS, MINT: 0, REDEEM: 0 },
      month: { from: JANUARY_ENDS, MINT: 0, REDEEM: 0 },
    });
  });

  it("is that of the book's newest day when the clock is behind the book", () => {
    const usage = counted(usageAt(undefined, JANUARY_ENDS), MINT);
    expect(usageAt(usage, JANUARY_31)).to.equal(usage);
  });

  it("gives back what was accepted in the same day, or earlier in the same month, and nothing older", () => {
    const now = at("2026-01-31T12:00:00");
    const usage = counted(counted(usageAt(undefined, now), MINT), MINT);
    const sums = (createdAt: UnixMillis): number[] => {
      const { day, month } = givenBack(usage, { ...MINT, createdAt });
      return [day.MINT, month.MINT];
    };
    expect(sums(at("2026-01-31T00:00:00"))).to.deep.equal([100, 100]);
    expect(sums(at("2026-01-30T23:59:59.999"))).to.deep.equal([200, 100]);
    expect(sums(at("2025-12-31T23:59:59.999"))).to.deep.equal([200, 200]);
  });

  const used = counted(usageAt(undefined, JANUARY_31), MINT);
  for (const [what, limits, expected] of [
    ["of one transaction", { TRANSACTION: 99, DAY: 1 }, ["TRANSACTION", 99, undefined, 99, undefined]],
    ["of a day", { TRANSACTION: 100, DAY: 199, MONTH: 1 }, ["DAY", 199, 100, 99, JANUARY_ENDS]],
    ["of a month", { DAY: 200, MONTH: 199 }, ["MONTH", 199, 100, 99, JANUARY_ENDS]],
  ] as const) {
    it(`tells the first limit that is exceeded: ${what}`, () => {
      const [period, limitCents, usedCents, remainingCents, resetsAt] = expected;
      const set = { MINT: limits as AmountLimits, REDEEM: {} };
      expect(reachedLimit(set, used, MINT)).to.deep.equal({ period, limitCents, usedCents, remainingCents, resetsAt });
      expect(reachedLimit(set, used, REDEEM)).to.equal(undefined);
    });
  }

  it("allows a sum that equals the limit", () => {
    const set = { MINT: { TRANSACTION: toCents(100), DAY: toCents(200), MONTH: toCents(200) }, REDEEM: {} };
    expect(reachedLimit(set, used, MINT)).to.equal(undefined);
  });

  it("ends where a number is exact, without a limit", () => {
    const { day, month } = used;
    const full = { day, month: { ...month, MINT: Number.MAX_SAFE_INTEGER - 99 } };
    expect(reachedLimit({ MINT: {}, REDEEM: {} }, full, MINT)).to.include({
      period: "MONTH",
      limitCents: Number.MAX_SAFE_INTEGER,
    });
  });

  it("resets in the next year after December", () => {
    const usage = usageAt(undefined, at("2026-12-31T10:00:00"));
    const set = { MINT: { MONTH: toCents(1) }, REDEEM: {} };
    expect(reachedLimit(set, usage, MINT)?.resetsAt).to.equal(at("2027-01-01T00:00:00"));
  });

  it("lists beyond what a redemption is held, too, with what is left of the day", () => {
    const set = {
      MINT: {},
      REDEEM: {
        HELD_AMOUNT: toCents(5),
        HELD_DAY: toCents(50),
        HELD_NEW_DESTINATION: toCents(6),
        HELD_CHANGED: toCents(7),
      },
    };
    const states = limitStates(set, counted(usageAt(undefined, JANUARY_31), REDEEM));
    expect(
      states.map(({ period, usedCents, remainingCents, resetsAt }) => [period, usedCents, remainingCents, resetsAt]),
    ).to.deep.equal([
      ["HELD_AMOUNT", undefined, 5, undefined],
      ["HELD_DAY", 30, 20, JANUARY_ENDS],
      ["HELD_NEW_DESTINATION", undefined, 6, undefined],
      ["HELD_CHANGED", undefined, 7, undefined],
    ]);
  });

  it("lists the limits that are set, with what is left, mints first", () => {
    const set = { MINT: { DAY: toCents(50) }, REDEEM: { TRANSACTION: toCents(5) } };
    expect(limitStates(set, used)).to.deep.equal([
      { type: "MINT", period: "DAY", limitCents: 50, usedCents: 100, remainingCents: 0, resetsAt: JANUARY_ENDS },
      {
        type: "REDEEM",
        period: "TRANSACTION",
        limitCents: 5,
        usedCents: undefined,
        remainingCents: 5,
        resetsAt: undefined,
      },
    ]);
  });
});
