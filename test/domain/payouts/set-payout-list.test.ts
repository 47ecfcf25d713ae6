import { expect } from "chai";

import { WIDENS_ALONE } from "../../../src/domain/authority.js";
import { payoutListFromText, payoutListText } from "../../../src/domain/payout-list.js";
import { ALONE } from "../../support/commands.js";
import { decide, effectOf, expectRefused, putOf, wordOf } from "../../support/decided.js";
import { givenBook, givenHead } from "../../support/given.js";
import { EARLIER, NOW, ORGANIZATION, TEST_ACTOR } from "../../support/names.js";
import { setPayoutList } from "../../support/operations/payouts.js";

const counts = { account: 1, number: 2, name: 3 };
const former = payoutListText({ hash: "a".repeat(64), counts, by: TEST_ACTOR, since: EARLIER });
const book = () => givenBook({ books: [givenHead({ payoutList: former })] });
const hash = "b".repeat(64);

describe("setting the list of payouts that are held", () => {
  it("says in the book what the list has, since when and by whom, and holds from the next command on", () => {
    const before = book();
    const effect = effectOf(decide(before, setPayoutList(ORGANIZATION, { hash, counts, replaces: former })));
    const list = { hash, counts, by: TEST_ACTOR, since: NOW };
    expect(payoutListFromText(effect.payoutList ?? "")).to.deep.equal(list);
    expect(effect.entries[0]).to.include({ kind: "payouts.list_set", detail: effect.payoutList, posting: undefined });
    before.apply(effect);
    expect(before.bookOf(ORGANIZATION).payoutList).to.equal(effect.payoutList);
  });

  for (const [what, given, word] of [
    ["the same entries, whatever was compared", { hash: "a".repeat(64) }, "replay"],
    ["other entries", { hash, replaces: former }, "effect"],
    ["entries that were compared with no list", { hash }, "PAYOUT_LIST_CHANGED"],
    ["entries that were compared with an older list", { hash, replaces: `${former} ` }, "PAYOUT_LIST_CHANGED"],
  ] as const) {
    it(`decides ${word} about ${what}`, () => {
      expect(wordOf(decide(book(), setPayoutList(ORGANIZATION, given)))).to.equal(word);
    });
  }

  it("decides about a first list, which replaces none", () => {
    expect(wordOf(decide({}, setPayoutList(ORGANIZATION)))).to.equal("effect");
    expectRefused(decide({}, setPayoutList(ORGANIZATION, { replaces: former })), { reason: "PAYOUT_LIST_CHANGED" });
  });

  it("needs a second person if entries end, and none if the list only grows", () => {
    for (const groups of [["payouts"], [WIDENS_ALONE]] as const) {
      const authority = { ...ALONE, groups };
      const set = (ended: number) =>
        effectOf(decide(book(), setPayoutList(ORGANIZATION, { hash, replaces: former, ended, authority })));
      expect(putOf(set(0), "proposals")).to.equal(undefined);
      expect(putOf(set(1), "proposals")?.person).to.equal("amina");
    }
  });
});
