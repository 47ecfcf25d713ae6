import { expect } from "chai";

import {
  type BookSums,
  isWithinLimits,
  MAX_SUM_CENTS,
  NO_SUMS,
  NO_TURNOVER,
  ofEachAccount,
  postedToBook,
  turnedOver,
} from "../../src/domain/book.js";
import { BOOK_ACCOUNTS, type BookAccount } from "../../src/domain/journal.js";
import { toCents } from "../../src/domain/values/cents.js";

const BEFORE: BookSums = {
  reserve: 10_000,
  shortfall: 1_500,
  charges: 500,
  available: 7_000,
  held: 4_000,
  unallocated: 1_000,
};

describe("the sums of a book", () => {
  // A reserve that moves is not enough: a credit of a deposit moves none, and mints.
  for (const debit of BOOK_ACCOUNTS) {
    for (const credit of BOOK_ACCOUNTS.filter((account) => account !== debit)) {
      it(`minted minus redeemed is in circulation: debit ${debit}, credit ${credit}`, () => {
        const after = postedToBook(NO_SUMS, { debit, credit, amountCents: toCents(1_500) });
        const { minted, redeemed } = turnedOver(NO_TURNOVER, { debit, credit }, 1_500n);
        expect(Number(minted - redeemed)).to.equal(after.available + after.held);
        expect(minted + redeemed).to.equal(after.available + after.held === 0 ? 0n : 1_500n);
      });
    }
  }

  // What comes in is an asset; to whom it belongs is a liability.
  for (const [what, debit, credit, changed] of [
    ["a mint adds to both", "reserve", "available", { reserve: 11_500, available: 8_500 }],
    ["a redemption takes from both", "available", "reserve", { reserve: 8_500, available: 5_500 }],
    ["a hold moves a liability", "available", "held", { available: 5_500, held: 5_500 }],
    ["a release moves it back", "held", "available", { available: 8_500, held: 2_500 }],
    ["a burn of what was held takes from both", "held", "reserve", { reserve: 8_500, held: 2_500 }],
    ["money for nobody is a liability", "reserve", "unallocated", { reserve: 11_500, unallocated: 2_500 }],
    ["money that is allotted later stays one", "unallocated", "available", { unallocated: -500, available: 8_500 }],
    ["money that went out unbacked is an asset", "shortfall", "reserve", { shortfall: 3_000, reserve: 8_500 }],
    ["money that the operator puts back ends it", "reserve", "shortfall", { shortfall: 0, reserve: 11_500 }],
    ["a charge of a rail is an asset, too", "charges", "reserve", { charges: 2_000, reserve: 8_500 }],
    ["what is put in for charges may be ahead of them", "reserve", "charges", { charges: -1_000, reserve: 11_500 }],
  ] as const satisfies readonly (readonly [string, BookAccount, BookAccount, Partial<BookSums>])[]) {
    it(`${what}: debit ${debit}, credit ${credit}`, () => {
      const after = postedToBook(BEFORE, { debit, credit, amountCents: toCents(1_500) });
      expect(after).to.deep.equal({ ...BEFORE, ...changed });
      expect(after.reserve + after.shortfall + after.charges).to.equal(
        after.available + after.held + after.unallocated,
      );
    });
  }

  it("are zero at first", () => {
    expect(ofEachAccount(() => 0)).to.deep.equal(NO_SUMS);
  });

  it("may have a reserve below zero, where a shortfall says why", () => {
    const empty: BookSums = { reserve: 0, shortfall: 0, charges: 0, available: 0, held: 0, unallocated: 0 };
    const after = postedToBook(empty, { debit: "shortfall", credit: "reserve", amountCents: toCents(1) });
    expect(after).to.deep.equal({ ...empty, reserve: -1, shortfall: 1 });
  });

  it("stay exact up to their limit", () => {
    const ahead = { ...BEFORE, charges: -MAX_SUM_CENTS };
    expect([ahead, { ...ahead, charges: ahead.charges - 1 }].map(isWithinLimits)).to.deep.equal([true, false]);
    const almost = { ...BEFORE, reserve: MAX_SUM_CENTS - 1, available: MAX_SUM_CENTS - 1 };
    const after = postedToBook(almost, { debit: "reserve", credit: "available", amountCents: toCents(1) });
    expect(after).to.include({ reserve: 9_007_199_254_740_991, available: 9_007_199_254_740_991 });
  });
});
