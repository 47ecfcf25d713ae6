import { expect } from "chai";

import { MAX_SUM_CENTS, NO_SUMS } from "../../../src/domain/book.js";
import type { RailReceipt } from "../../../src/domain/payment.js";
import { decide, effectOf, wordOf } from "../../support/decided.js";
import { givenBook, givenHead } from "../../support/given.js";
import { ORGANIZATION } from "../../support/names.js";
import { recordCharge } from "../../support/operations/deposits.js";

describe("recordCharge", () => {
  for (const [direction, posting] of [
    ["out", { debit: "charges", credit: "reserve", amountCents: 5 }],
    ["in", { debit: "reserve", credit: "charges", amountCents: 5 }],
  ] as const) {
    it(`books what goes ${direction} under the receipt of the movement, and not as that receipt`, () => {
      const decision = decide({}, recordCharge(ORGANIZATION, { direction }));
      const [entry] = effectOf(decision).entries;
      const expected = { kind: "charge.recorded", posting, detail: `${direction} 5`, receipt: "charge:r1" };
      expect(entry).to.deep.include(expected);
    });
  }

  it("books the charges of a movement once", () => {
    const used = { organizationId: ORGANIZATION, transactionId: undefined, depositId: undefined };
    const book = givenBook({ receipts: [{ ...used, receipt: "charge:r1" as RailReceipt }] });
    expect(wordOf(decide(book, recordCharge(ORGANIZATION)))).to.equal("replay");
  });

  it("refuses what the book cannot hold", () => {
    const sums = { ...NO_SUMS, charges: MAX_SUM_CENTS - 4, available: MAX_SUM_CENTS - 4 };
    expect(wordOf(decide({ books: [givenHead({ sums })] }, recordCharge(ORGANIZATION)))).to.equal("LIMIT_EXCEEDED");
  });
});
