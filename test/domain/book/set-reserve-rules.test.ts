import { expect } from "chai";

import { rulesFromText, rulesText } from "../../../src/domain/reserve.js";
import { ALONE } from "../../support/commands.js";
import { decide, effectOf, putOf, wordOf } from "../../support/decided.js";
import { givenBook, givenHead } from "../../support/given.js";
import { ORGANIZATION } from "../../support/names.js";
import { setReserveRules } from "../../support/operations/book.js";

const RULES = [
  { kind: "bank_kenya", shareMin: 30, shareMax: undefined, daysMax: undefined, staleAfterDays: 7 },
  { kind: "repo", shareMin: undefined, shareMax: 20, daysMax: 90, staleAfterDays: 31 },
] as const;

describe("setting the rules of the reserve", () => {
  it("notes all of them in one row, and the book keeps them", () => {
    const book = givenBook();
    const effect = effectOf(decide(book, setReserveRules(ORGANIZATION, RULES)));
    const [entry] = effect.entries;
    expect(entry).to.include({ kind: "reserve.rules_set", detail: effect.reserveRules });
    expect(rulesFromText(entry?.detail ?? "")).to.deep.equal(RULES);
    book.apply(effect);
    expect(wordOf(decide(book, setReserveRules(ORGANIZATION, RULES)))).to.equal("replay");
  });

  for (const [what, before, after, expected] of [
    ["none where there were none", undefined, [], "replay"],
    ["none in place of some", rulesText(RULES), [], "effect"],
    ["fewer", rulesText(RULES), [RULES[0]], "effect"],
  ] as const) {
    it(`decides ${expected} about ${what}`, () => {
      const head = givenHead(before === undefined ? {} : { reserveRules: before });
      expect(wordOf(decide({ books: [head] }, setReserveRules(ORGANIZATION, after)))).to.equal(expected);
    });
  }

  it("needs a second person if the policy says so", () => {
    const command = setReserveRules(ORGANIZATION, RULES, { authority: { ...ALONE, groups: ["reserve"] } });
    expect(putOf(effectOf(decide({}, command)), "proposals")?.person).to.equal("amina");
  });
});
