import { expect } from "chai";
import fc from "fast-check";

import { toCents } from "../../../src/domain/values/cents.js";
import { isPayable, nearestPayable } from "../../../src/domain/values/payable-amounts.js";

const SHILLINGS = { minCents: toCents(10_00), maxCents: toCents(250_000_00), stepCents: toCents(100) };

describe("the payable amounts of a rail", () => {
  for (const [what, amountCents, belowCents, aboveCents] of [
    ["a payable amount", 100_00, 100_00, 100_00],
    ["the smallest", 10_00, 10_00, 10_00],
    ["the largest", 250_000_00, 250_000_00, 250_000_00],
    ["an amount with cents", 100_50, 100_00, 101_00],
    ["one cent more than payable", 100_01, 100_00, 101_00],
    ["one cent less than payable", 99_99, 99_00, 100_00],
    ["less than the smallest", 9_99, undefined, 10_00],
    ["one cent", 1, undefined, 10_00],
    ["one cent more than the largest", 250_000_01, 250_000_00, undefined],
    ["the largest amount of the service", 999_999_999_999_999, 250_000_00, undefined],
  ] as const) {
    it(`gives the neighbours of ${what}`, () => {
      expect(nearestPayable(toCents(amountCents), SHILLINGS)).to.deep.equal({ belowCents, aboveCents });
      expect(isPayable(toCents(amountCents), SHILLINGS)).to.equal(belowCents === aboveCents);
    });
  }

  it("keeps to the steps even if its ends do not", () => {
    const ends = { minCents: toCents(1_50), maxCents: toCents(9_50), stepCents: toCents(100) };
    expect(nearestPayable(toCents(1_50), ends)).to.deep.equal({ belowCents: undefined, aboveCents: 2_00 });
    expect(nearestPayable(toCents(9_50), ends)).to.deep.equal({ belowCents: 9_00, aboveCents: undefined });
  });

  it("has no neighbours where nothing is payable", () => {
    const nothing = { minCents: toCents(1_10), maxCents: toCents(1_90), stepCents: toCents(100) };
    expect(nearestPayable(toCents(1_50), nothing)).to.deep.equal({ belowCents: undefined, aboveCents: undefined });
  });

  it("gives the nearest of all payable amounts, which a list of them shows", () => {
    const anyRail = fc.record({
      minCents: fc.integer({ min: 1, max: 300 }).map(toCents),
      maxCents: fc.integer({ min: 1, max: 300 }).map(toCents),
      stepCents: fc.integer({ min: 1, max: 40 }).map(toCents),
    });
    fc.assert(
      fc.property(anyRail, fc.integer({ min: 1, max: 400 }).map(toCents), (rail, amountCents) => {
        const payable = Array.from({ length: 401 }, (_, cents) => cents).filter(
          (cents) => cents >= rail.minCents && cents <= rail.maxCents && cents % rail.stepCents === 0,
        );
        expect(nearestPayable(amountCents, rail)).to.deep.equal({
          belowCents: payable.findLast((cents) => cents <= amountCents),
          aboveCents: payable.find((cents) => cents >= amountCents),
        });
      }),
    );
  });
});
