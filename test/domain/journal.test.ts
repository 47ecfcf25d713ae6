import { expect } from "chai";

import {
  detailBy,
  holdPosting,
  mintPosting,
  postedTo,
  redeemPosting,
  releasePosting,
  wordOf,
} from "../../src/domain/journal.js";
import type { Decider } from "../../src/domain/proposal.js";
import { MAX_CENTS, toCents } from "../../src/domain/values/cents.js";

const AMOUNT = toCents(1_500);
const BALANCES = { availableCents: toCents(10_000), heldCents: toCents(2_000) };

describe("a posting", () => {
  for (const [name, posting, debit, credit, availableCents, heldCents] of [
    ["mints: from the reserve, to available", mintPosting, "reserve", "available", 11_500, 2_000],
    ["redeems: from available, to the reserve", redeemPosting, "available", "reserve", 8_500, 2_000],
    ["holds: from available, to held", holdPosting, "available", "held", 8_500, 3_500],
    ["releases: from held, to available", releasePosting, "held", "available", 11_500, 500],
  ] as const) {
    it(name, () => {
      expect(posting(AMOUNT)).to.deep.equal({ debit, credit, amountCents: AMOUNT });
      expect(postedTo(BALANCES, posting(AMOUNT))).to.deep.equal({ availableCents, heldCents });
    });
  }

  it("burns what was held: from held, to the reserve", () => {
    const burn = { debit: "held", credit: "reserve", amountCents: AMOUNT } as const;
    expect(postedTo(BALANCES, burn)).to.deep.equal({ availableCents: 10_000, heldCents: 500 });
  });

  it("never leaves a balance below zero or past the limit: that is a bug", () => {
    expect(() => postedTo(BALANCES, redeemPosting(toCents(10_001)))).to.throw(RangeError);
    expect(() => postedTo(BALANCES, holdPosting(toCents(10_001)))).to.throw(RangeError);
    expect(() => postedTo(BALANCES, releasePosting(toCents(2_001)))).to.throw(RangeError);
    expect(() => postedTo(BALANCES, mintPosting(MAX_CENTS))).to.throw(RangeError);
  });
});

describe("the detail of a step", () => {
  for (const [word, persons, detail] of [
    ["EXPIRED", [], "EXPIRED"],
    [undefined, [], undefined],
    ["OUTCOME_UNKNOWN", ["Amina", "Brian"], '["OUTCOME_UNKNOWN","Amina","Brian"]'],
    [undefined, ["Amina"], '["","Amina"]'],
  ] as const) {
    it(`gives its word back: ${String(detail)}`, () => {
      expect(detailBy(word, persons as readonly string[] as readonly Decider[])).to.equal(detail);
      expect(wordOf(detail)).to.equal(word);
    });
  }
});
