import { expect } from "chai";

import type { Actor } from "../../../src/domain/values/actor.js";
import { toUnixMillis, type UnixMillis } from "../../../src/domain/values/time.js";
import { decide, effectOf, expectRefused, putOf, wordOf } from "../../support/decided.js";
import { erasedHolder, givenAccount, givenBook, givenFreeze, givenHolder, givenPerson } from "../../support/given.js";
import { newAccountId, NOW, ORGANIZATION, STRANGER, TEST_ACTOR } from "../../support/names.js";
import { revealAccount } from "../../support/operations/accounts.js";

const active = givenAccount();
const frozen = givenAccount({ status: "FROZEN" });
const closed = givenAccount({ status: "CLOSED" });
const erased = givenAccount();
const rows = {
  accounts: [active, frozen, closed, erased],
  accountHolders: [...[active, frozen, closed].map((each) => givenHolder(each)), erasedHolder(erased)],
  freezes: [givenFreeze({ accountId: frozen.id })],
};
const HOUR_MILLIS = 3_600_000;

/** The book of a person who has revealed at these moments. */
function bookOf(times: readonly UnixMillis[], actor: Actor = TEST_ACTOR): ReturnType<typeof givenBook> {
  return givenBook({ ...rows, reveals: new Map([[actor, times]]) });
}
/** 60 reveals, the oldest so long ago. */
const sixty = (millisAgo: number): readonly UnixMillis[] =>
  Array.from({ length: 60 }, (_, index) => toUnixMillis(NOW - (index === 0 ? millisAgo : 1)));

describe("a reveal of personal data", () => {
  it("returns the data, and writes who looked and why, and nothing else", () => {
    const book = bookOf([]);
    const decision = decide(book, revealAccount(ORGANIZATION, active.id));
    expect(decision).to.have.deep.nested.property("resource.person", givenPerson());
    const effect = effectOf(decision);
    expect(putOf(effect, "accounts")).to.deep.equal({ ...active, updatedAt: NOW });
    expect(effect.puts).to.have.lengthOf(1);
    expect(effect.entries).to.have.lengthOf(1);
    expect(effect.entries[0]).to.include({
      kind: "account.revealed",
      actor: TEST_ACTOR,
      reason: "customer_called: case 17",
      posting: undefined,
    });
    const { phoneNumber, userId } = givenPerson();
    for (const data of [phoneNumber, userId]) expect(JSON.stringify(effect.entries)).not.to.include(data);
  });

  it("does it again for a repeat: somebody looks again", () => {
    const book = bookOf([]);
    const command = revealAccount(ORGANIZATION, active.id);
    book.apply(effectOf(decide(book, command)));
    expect(decide(book, command).kind).to.equal("effect");
    expect(book.reveals(TEST_ACTOR)).to.deep.equal([NOW]);
  });

  for (const [what, times, actor, expected] of [
    ["the 60th in an hour", sixty(2).slice(1), TEST_ACTOR, "effect"],
    ["the 61st in an hour", sixty(HOUR_MILLIS - 1), TEST_ACTOR, "TOO_MANY_REVEALS"],
    ["one more, an hour after the first of 60", sixty(HOUR_MILLIS), TEST_ACTOR, "effect"],
    ["the first of another person", sixty(2), "opr_other" as Actor, "effect"],
  ] as const) {
    it(`decides ${expected} for ${what}`, () => {
      expect(wordOf(decide(bookOf(times, actor), revealAccount(ORGANIZATION, active.id)))).to.equal(expected);
    });
  }

  it("says when the next one is allowed, and counts those of the same commit", () => {
    const book = bookOf(sixty(HOUR_MILLIS - 5_000).slice(0, 59));
    const command = revealAccount(ORGANIZATION, active.id);
    book.apply(effectOf(decide(book, command)));
    expectRefused(decide(book, command), { reason: "TOO_MANY_REVEALS", limit: 60, retryMillis: 5_000 });
  });

  for (const [expected, organization, id] of [
    ["effect", ORGANIZATION, frozen.id],
    ["effect", ORGANIZATION, closed.id],
    ["ACCOUNT_NOT_FOUND", ORGANIZATION, newAccountId()],
    ["ACCOUNT_NOT_FOUND", STRANGER, active.id],
    ["ACCOUNT_ERASED", ORGANIZATION, erased.id],
  ] as const) {
    it(`decides ${expected} for an account in each state`, () => {
      const command = revealAccount(organization, id);
      expect(wordOf(decide(bookOf([]), command))).to.equal(expected);
      // Beyond the limit nobody learns whether an account is there.
      expect(wordOf(decide(bookOf(sixty(2)), command))).to.equal("TOO_MANY_REVEALS");
    });
  }
});
