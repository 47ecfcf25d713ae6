import { expect } from "chai";

import {
  changedLimits,
  isLooser,
  type Limits,
  limitsChanged,
  limitsFromText,
  limitsOfTier,
  limitsText,
  NO_LIMITS,
  parseKnownTier,
  parseNewLimit,
  parseTierName,
  type TierName,
} from "../../../src/domain/limits/limits.js";
import { toCents } from "../../../src/domain/values/cents.js";

const [ONE, TWO] = [toCents(1), toCents(2)];
const [BASIC, FULL, DEFAULT] = ["basic", "full", "default"] as [TierName, TierName, TierName];

function limitsWith(...tiers: (readonly [TierName, Limits["organization"]])[]): Limits {
  return { organization: NO_LIMITS, tiers: new Map(tiers) };
}

describe("limits", () => {
  for (const [what, name, limits, known] of [
    ["one that has limits", "basic", limitsWith([BASIC, NO_LIMITS]), true],
    ["the default one, which needs none", "default", undefined, true],
    ["one that has none: often a slip", "full", limitsWith([BASIC, NO_LIMITS]), "must be one of default, basic"],
    ["any other while nothing has limits", "basic", undefined, "must be one of default"],
  ] as const) {
    it(`let an account move to a tier: ${what}`, () => {
      const tier = parseKnownTier(name, limits);
      expect(tier.ok || tier.problem).to.equal(known);
    });
  }

  it("of a tier are its own, or those of the default tier, or none", () => {
    const own = { MINT: { DAY: ONE }, REDEEM: {} };
    const others = { MINT: { DAY: TWO }, REDEEM: {} };
    expect(limitsOfTier(limitsWith([BASIC, own], [DEFAULT, others]), BASIC)).to.equal(own);
    expect(limitsOfTier(limitsWith([BASIC, own], [DEFAULT, others]), FULL)).to.equal(others);
    expect(limitsOfTier(limitsWith([BASIC, own]), FULL)).to.equal(NO_LIMITS);
  });

  it("change by name: an amount replaces, NONE lifts, and an absent name stays", () => {
    const before = { MINT: { TRANSACTION: ONE, DAY: ONE }, REDEEM: { MONTH: ONE } };
    const changes = { MINT: { DAY: "NONE", MONTH: TWO }, REDEEM: {} } as const;
    expect(changedLimits(before, changes)).to.deep.equal({
      MINT: { TRANSACTION: ONE, MONTH: TWO },
      REDEEM: { MONTH: ONE },
    });
  });

  it("hold redemptions alone, and are looser where less is held", () => {
    const held = changedLimits(NO_LIMITS, { MINT: { HELD_DAY: ONE }, REDEEM: { HELD_DAY: ONE } });
    expect(held).to.deep.equal({ MINT: {}, REDEEM: { HELD_DAY: ONE } });
    const less = changedLimits(held, { MINT: {}, REDEEM: { HELD_DAY: TWO } });
    expect([isLooser(held, less), isLooser(held, NO_LIMITS), isLooser(less, held)]).to.deep.equal([true, true, false]);
    expect(limitsChanged("organization", held, less)).to.deep.equal([
      { what: "organization: redemptions of a day without a release", before: "0.01 KES", after: "0.02 KES" },
    ]);
  });

  it("have one text, whatever the order in which they were set, and the text gives them back", () => {
    const set = changedLimits(NO_LIMITS, { MINT: { MONTH: TWO, DAY: ONE }, REDEEM: {} });
    const same = changedLimits(changedLimits(NO_LIMITS, { MINT: { DAY: ONE }, REDEEM: {} }), {
      MINT: { MONTH: TWO },
      REDEEM: {},
    });
    const text = limitsText({ organization: set, tiers: new Map([[FULL, set] as const, [BASIC, NO_LIMITS] as const]) });
    const other = limitsText({
      organization: same,
      tiers: new Map([[BASIC, NO_LIMITS] as const, [FULL, same] as const]),
    });
    expect(text).to.equal(other);
    expect(limitsText(limitsFromText(text))).to.equal(text);
    expect(limitsFromText(text).tiers.get(FULL)).to.deep.equal(set);
  });

  it("are parsed as an amount, as zero, or as none", () => {
    const parse = (text: string): unknown => {
      const limit = parseNewLimit(text);
      return limit.ok ? limit.value : limit.code;
    };
    expect(["0", "0.0", "0.00", "0.01", "none"].map(parse)).to.deep.equal([0, 0, 0, 1, "NONE"]);
    expect(["", "NONE", "-1", "0.000", "1.001", "00"].map(parse)).to.deep.equal([
      "REQUIRED",
      "FORMAT",
      "OUT_OF_RANGE",
      "FORMAT",
      "FORMAT",
      "FORMAT",
    ]);
    expect(parseNewLimit("-1")).to.include({ problem: "must be zero or more" });
  });

  it("have tiers whose names are short and plain", () => {
    for (const name of ["a", "full", "tier-2", "x_y", "a".repeat(32)])
      expect(parseTierName(name).ok, name).to.equal(true);
    for (const name of ["", "Full", "2full", "a b", "a".repeat(33), "é"])
      expect(parseTierName(name).ok, name).to.equal(false);
  });
});
