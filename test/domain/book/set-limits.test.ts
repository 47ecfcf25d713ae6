import { expect } from "chai";

import { type Limits, limitsText, NO_LIMITS, type TierName, TIERS_MAX } from "../../../src/domain/limits/limits.js";
import type { LimitsInForce } from "../../../src/domain/limits/usage.js";
import { toCents } from "../../../src/domain/values/cents.js";
import { toUnixMillis } from "../../../src/domain/values/time.js";
import { decide, effectOf, wordOf } from "../../support/decided.js";
import { givenBook, givenHead } from "../../support/given.js";
import { EARLIER, NOW, ORGANIZATION } from "../../support/names.js";
import { setLimits } from "../../support/operations/accounts.js";

const ONE = toCents(1);
const usage = { day: { from: EARLIER, MINT: 1, REDEEM: 2 }, month: { from: EARLIER, MINT: 3, REDEEM: 4 } };

function bookWith(limits: LimitsInForce | undefined) {
  return givenBook({ books: [givenHead({ limits })] });
}

function inForce(given: Partial<Limits>): LimitsInForce {
  return { organization: NO_LIMITS, tiers: new Map(), since: EARLIER, usage, ...given };
}

describe("setting limits", () => {
  it("notes the person and all limits in the book, and counts from then on", () => {
    const command = setLimits(ORGANIZATION, { changes: { DAY: ONE } });
    const effect = effectOf(decide(bookWith(undefined), command));
    const organization = { MINT: { DAY: 1 }, REDEEM: {} };
    const text = limitsText({ organization: { MINT: { DAY: ONE }, REDEEM: {} }, tiers: new Map() });
    expect(effect.limits).to.deep.equal({ organization, tiers: new Map(), since: NOW, usage: undefined });
    expect(effect.puts).to.deep.equal([]);
    expect(effect.entries).to.have.lengthOf(1);
    expect(effect.entries[0]).to.include({
      kind: "limits.set",
      accountId: undefined,
      recordedAt: NOW,
      detail: JSON.stringify(["amina", text]),
    });
  });

  it("begins to count after the last row of the book, also within one millisecond", () => {
    const book = givenBook({ books: [givenHead({ lastRecordedAt: NOW })] });
    const decision = decide(book, setLimits(ORGANIZATION, { changes: { DAY: ONE } }));
    const { entries, limits } = effectOf(decision);
    expect(limits?.since).to.equal(NOW + 1);
    expect(entries[0]?.recordedAt).to.equal(NOW + 1);
    expect(decision)
      .to.have.nested.property("resource.resource")
      .that.includes({ lastSeq: 2, lastRecordedAt: NOW + 1 });
  });

  it("keeps what is counted, and the other limits", () => {
    const before = inForce({ tiers: new Map([["full" as TierName, { MINT: { DAY: ONE }, REDEEM: {} }]]) });
    const command = setLimits(ORGANIZATION, { tier: "full", type: "REDEEM", changes: { MONTH: ONE } });
    const effect = effectOf(decide(bookWith(before), command));
    expect(effect.limits).to.deep.equal({
      ...before,
      tiers: new Map([["full", { MINT: { DAY: 1 }, REDEEM: { MONTH: 1 } }]]),
    });
    expect(effect.entries[0]?.recordedAt).to.equal(NOW);
  });

  it("removes those of a tier, and those of the organization", () => {
    const before = inForce({
      organization: { MINT: { DAY: ONE }, REDEEM: {} },
      tiers: new Map([["full" as TierName, NO_LIMITS]]),
    });
    const decided = (tier?: string) =>
      effectOf(decide(bookWith(before), setLimits(ORGANIZATION, { tier, changes: undefined }))).limits;
    expect(decided("full")?.tiers.size).to.equal(0);
    expect(decided()).to.deep.include({ organization: NO_LIMITS, since: EARLIER, usage });
  });

  it("is a replay if the limits are so already", () => {
    const before = inForce({ organization: { MINT: { DAY: ONE }, REDEEM: {} } });
    const same = setLimits(ORGANIZATION, { changes: { DAY: ONE } });
    expect(wordOf(decide(bookWith(before), same))).to.equal("replay");
    const none = setLimits(ORGANIZATION, { changes: undefined });
    expect(wordOf(decide(bookWith(undefined), none, toUnixMillis(0)))).to.equal("replay");
  });

  it("refuses more than 20 tiers: TOO_MANY_TIERS", () => {
    const names = Array.from({ length: TIERS_MAX }, (_, index) => `tier-${String(index)}` as TierName);
    const before = inForce({ tiers: new Map(names.map((name) => [name, NO_LIMITS])) });
    const decided = (tier: string) =>
      wordOf(decide(bookWith(before), setLimits(ORGANIZATION, { tier, changes: { DAY: ONE } })));
    expect(decided("one-more")).to.equal("TOO_MANY_TIERS");
    expect(decided("tier-3")).to.equal("effect");
  });
});
