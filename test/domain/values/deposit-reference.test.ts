import { expect } from "chai";
import fc from "fast-check";

import { depositReferenceOf, readDepositReference } from "../../../src/domain/values/deposit-reference.js";

const [FIRST, LAST] = [2_000_000, 9_999_999];
const references = fc.integer({ min: FIRST, max: LAST }).map(depositReferenceOf);

describe("a deposit reference", () => {
  it("has 8 digits, of which the last is the check digit of Damm", () => {
    expect([FIRST, LAST].map(depositReferenceOf)).to.deep.equal(["20000006", "99999992"]);
  });

  it("differs from every number with one wrong digit, and from every swap of neighbours", () => {
    fc.assert(
      fc.property(references, (reference) => {
        const digits = Array.from(reference);
        const wrong = digits.flatMap((digit, at) =>
          Array.from("0123456789")
            .filter((other) => other !== digit)
            .map((other) => digits.with(at, other)),
        );
        const swapped = digits.slice(1).map((digit, at) => digits.with(at, digit).with(at + 1, String(digits[at])));
        const others = [...wrong, ...swapped].map((each) => each.join("")).filter((each) => each !== reference);
        return readDepositReference(reference) === reference && others.every((each) => !readDepositReference(each));
      }),
      { numRuns: 500 },
    );
  });

  for (const typed of ["2000-0006", " 20000006 ", "2 0 0 0 0 0 0 6", "#2000.0006", "2000/0006", "2000\t0006"]) {
    it(`is read from ${JSON.stringify(typed)}`, () => {
      expect(readDepositReference(typed)).to.equal("20000006");
    });
  }

  for (const [what, typed] of [
    ["nothing", ""],
    ["blanks", "   "],
    ["words", "rent"],
    ["digits and words", "20000006 rent"],
    ["7 digits", "2000000"],
    ["9 digits", "200000066"],
    ["a number from 0", "00000000"],
    ["a number from 1", "10000007"],
    ["a phone number", "0712345678"],
    ["a phone number with its country", "254712345678"],
    ["a phone number without its zero", "712345678"],
  ] as const) {
    it(`is not read from ${what}`, () => {
      expect(readDepositReference(typed)).to.equal(undefined);
    });
  }

  for (const random of [FIRST - 1, LAST + 1, FIRST + 0.5, Number.NaN]) {
    it(`is not made of ${String(random)}`, () => {
      expect(() => depositReferenceOf(random)).to.throw(RangeError);
    });
  }
});
