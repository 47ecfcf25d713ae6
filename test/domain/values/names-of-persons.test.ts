import { expect } from "chai";

import { CONFUSABLES } from "../../../src/domain/values/confusables.js";
import { looksLike, normalName } from "../../../src/domain/values/names-of-persons.js";

describe("a name of a person", () => {
  for (const [text, form] of [
    ["Wanjiku@Duka.co.\u212Ae", "wanjiku@duka.co.ke"],
    ["\uFF107\uFF11\uFF12", "0712"],
    ["\u017Fkip", "skip"],
    ["Stra\u00DFe", "strasse"],
    [" Ada\u00A0\u2003Lovelace ", "ada lovelace"],
    ["a\u00ADd\u200Ba\uFE0F", "ada"],
    ["\u3164", ""],
    // An accent is part of a name.
    ["Ada\u0301", "ad\u00E1"],
  ] as const) {
    it(`has a normal form: ${JSON.stringify(text)}`, () => {
      expect(normalName(text)).to.equal(form);
      expect(normalName(form)).to.equal(form);
    });
  }

  for (const [one, other, expected] of [
    ["Ada", "ada", true],
    ["Ada", "\u0410da", true],
    ["ADA", "\u0430d\u0430", true],
    ["Ada", "Ada\u0301", true],
    ["Ada", "Ad\u00E1", true],
    ["p1", "p1 ", true],
    ["p1", "P1", true],
    ["p1", "\u04401", true],
    ["p1", "pl", true],
    ["AI", "Al", true],
    ["Ai", "AI", true],
    ["ops-0", "OPS-O", true],
    ["Carmen", "Carrnen", true],
    ["Ann Otieno", "Ann  Otieno", true],
    ["Ann-Otieno", "Ann\u2010Otieno", true],
    ["p1", "p2", false],
    ["Ann", "Anna", false],
    ["Otieno", "Atieno", false],
    // The signs of Indic vowels are letters to a reader.
    ["\u0915\u093F", "\u0915\u0941", false],
  ] as const) {
    it(`${expected ? "looks" : "does not look"} like another: ${JSON.stringify([one, other])}`, () => {
      expect(looksLike(one, other)).to.equal(expected);
      expect(looksLike(other, one)).to.equal(expected);
    });
  }

  it("has a table of lookalikes that is what its comment says", () => {
    expect(CONFUSABLES.size).to.be.above(650);
    for (const [character, target] of CONFUSABLES) {
      expect(character.normalize("NFKC"), target).to.equal(character);
      expect(target).to.match(/^[!-~]+$/);
      // A target looks like nothing else.
      for (const sign of target) expect(CONFUSABLES.get(sign), character).to.equal(undefined);
    }
    for (const [character, target] of [
      ["\u0430", "a"],
      ["1", "l"],
      ["0", "O"],
      ["m", "rn"],
    ] as const) {
      expect(CONFUSABLES.get(character)).to.equal(target);
    }
  });
});
