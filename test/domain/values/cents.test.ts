import { expect } from "chai";
import fc from "fast-check";

import {
  addCents,
  formatCents,
  MAX_CENTS,
  NO_CENTS,
  parseAmount,
  subtractCents,
  toCents,
} from "../../../src/domain/values/cents.js";

const anyCents = fc.integer({ min: 0, max: MAX_CENTS }).map(toCents);
const anyAmountCents = fc.integer({ min: 1, max: MAX_CENTS }).map(toCents);

describe("an amount of money", () => {
  for (const [text, cents] of [
    ["1000", 100_000],
    ["1000.5", 100_050],
    ["1000.50", 100_050],
    ["1000.00", 100_000],
    ["0.01", 1],
    ["0.1", 10],
    ["10", 1_000],
    // Times 100 as a float, each of these is off by a fraction of a cent.
    ["1.15", 115],
    ["8.7", 870],
    ["4035.67", 403_567],
    ["9999999999999.99", 999_999_999_999_999],
    ["9999999999999", 999_999_999_999_900],
  ] as const) {
    it(`reads ${text} as ${String(cents)} cents`, () => {
      expect(parseAmount(text)).to.deep.equal({ ok: true, value: cents });
    });
  }

  for (const [what, text] of [
    ["a third fraction digit, never rounding it", "1.005"],
    ["a third fraction digit, even a zero", "1.000"],
    ["a fraction without its zero", ".5"],
    ["a point without a fraction", "1."],
    ["a point alone", "."],
    ["a leading zero", "01"],
    ["leading zeros", "00.50"],
    ["a plus", "+1"],
    ["an exponent", "1e3"],
    ["hexadecimal", "0x10"],
    ["a space before", " 1"],
    ["a space after", "1 "],
    ["a line feed after", "1\n"],
    ["a space alone", " "],
    ["thousands apart", "1,000.00"],
    ["a comma for a point", "1,50"],
    ["two points", "1.0.0"],
    ["Arabic digits", "١٢"],
    ["full-width digits", "１２"],
    ["a currency", "KES 1"],
    ["a word", "NaN"],
    ["another word", "Infinity"],
  ] as const) {
    it(`refuses ${what}: ${JSON.stringify(text)}`, () => {
      expect(parseAmount(text)).to.deep.equal({
        ok: false,
        problem: "must be a decimal such as 1000.00, with at most two fraction digits",
        code: "FORMAT",
      });
    });
  }

  for (const text of ["0", "0.0", "0.00", "-0", "-1", "-0.01"]) {
    it(`refuses ${text}: an amount to move is more than zero`, () => {
      const problem = "must be more than zero";
      expect(parseAmount(text)).to.deep.equal({ ok: false, problem, code: "OUT_OF_RANGE" });
    });
  }

  for (const [what, text] of [
    ["one cent more than 15 digits hold", "10000000000000.00"],
    ["14 digits without a fraction", "10000000000000"],
    ["a number that no float tells from its neighbour", "90071992547409930.01"],
    ["a million digits", "9".repeat(1_000_000)],
  ] as const) {
    it(`refuses ${what}: it is more than any account may hold`, () => {
      const problem = "must be at most 9999999999999.99";
      expect(parseAmount(text)).to.deep.equal({ ok: false, problem, code: "OUT_OF_RANGE" });
    });
  }

  it("says of the empty text that it is required", () => {
    expect(parseAmount("")).to.deep.equal({ ok: false, problem: "is required", code: "REQUIRED" });
  });

  it("is read exactly as it is written, whatever its digits", () => {
    const fraction = fc.stringMatching(/^[0-9]{0,2}$/);
    fc.assert(
      fc.property(fc.bigInt({ min: 1n, max: 9_999_999_999_999n }), fraction, (shillings, digits) => {
        const text = digits === "" ? String(shillings) : `${String(shillings)}.${digits}`;
        const cents = Number(shillings * 100n + BigInt(digits.padEnd(2, "0")));
        expect(parseAmount(text)).to.deep.equal({ ok: true, value: cents });
      }),
    );
  });

  it("comes back the same from the text that it is written as", () => {
    fc.assert(
      fc.property(anyAmountCents, (cents) => {
        expect(parseAmount(formatCents(cents))).to.deep.equal({ ok: true, value: cents });
      }),
    );
  });

  it("survives a JSON number, whatever it is", () => {
    fc.assert(
      fc.property(anyCents, (cents) => {
        expect((JSON.parse(formatCents(cents)) as number).toFixed(2)).to.equal(formatCents(cents));
      }),
    );
  });
});

describe("cents", () => {
  for (const [count, text] of [
    [0, "0.00"],
    [1, "0.01"],
    [10, "0.10"],
    [99, "0.99"],
    [100, "1.00"],
    [100_000, "1000.00"],
    [999_999_999_999_999, "9999999999999.99"],
  ] as const) {
    it(`are written with two fraction digits: ${String(count)} as ${text}`, () => {
      expect(formatCents(toCents(count))).to.equal(text);
    });
  }

  for (const count of [0, 1, 999_999_999_999_999]) {
    it(`are made of ${String(count)}`, () => {
      expect(toCents(count)).to.equal(count);
    });
  }

  for (const count of [-1, 0.5, 1_000_000_000_000_000, 2 ** 53, NaN, Infinity]) {
    it(`are never made of ${String(count)}: that is a bug`, () => {
      expect(() => toCents(count)).to.throw(
        RangeError,
        `${String(count)} is not a whole number of cents from 0 to 999999999999999`,
      );
    });
  }

  it("are as many as before when the same are added and subtracted", () => {
    fc.assert(
      fc.property(anyCents, anyCents, (sum, part) => {
        fc.pre(part <= sum);
        const rest = subtractCents(sum, part);
        expect(rest).to.equal(sum - part);
        expect(addCents(rest, part)).to.equal(sum);
      }),
    );
  });

  it("are never added past the limit, nor subtracted below zero", () => {
    expect(addCents(MAX_CENTS, NO_CENTS)).to.equal(MAX_CENTS);
    expect(subtractCents(MAX_CENTS, MAX_CENTS)).to.equal(NO_CENTS);
    expect(() => addCents(MAX_CENTS, toCents(1))).to.throw(RangeError);
    expect(() => subtractCents(NO_CENTS, toCents(1))).to.throw(RangeError);
  });
});
