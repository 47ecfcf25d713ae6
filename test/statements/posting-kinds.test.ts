import { expect } from "chai";

import { chargePosting } from "../../src/domain/charge.js";
import * as journal from "../../src/domain/journal.js";
import { toCents } from "../../src/domain/values/cents.js";
import { kindOfPosting, sourceOf } from "../../src/statements/posting-kinds.js";

describe("a line for the accountant", () => {
  it("has a word for each posting, and none without one", () => {
    const cents = toCents(1);
    const words = Object.entries(journal).flatMap(([name, made]) =>
      name.endsWith("Posting") ? [kindOfPosting((made as typeof journal.mintPosting)(cents))] : [],
    );
    const charges = (["in", "out"] as const).map((direction) => kindOfPosting(chargePosting(direction, cents)));
    expect(words.length).to.be.greaterThan(8);
    expect(new Set([...words, ...charges]).size).to.equal(words.length + 2);
    expect([...words, ...charges]).not.to.include(undefined);
    expect(kindOfPosting({ debit: undefined, credit: undefined })).to.equal(undefined);
  });

  for (const [receipt, rail, source] of [
    ["RKTQDM7W01", "mpesa", "mpesa"],
    ["kcb-1234:FT1", "direct", "kcb-1234"],
    ["charge:RKTQDM7W01", undefined, "mpesa"],
    ["charge:sandbox:7", undefined, "sandbox"],
    ["", "mpesa", "mpesa"],
    ["", "direct", undefined],
    ["", undefined, undefined],
  ] as const) {
    it(`is of ${String(source)} with the receipt "${receipt}" and the rail ${String(rail)}`, () => {
      expect(sourceOf({ receipt, rail })).to.equal(source);
    });
  }
});
