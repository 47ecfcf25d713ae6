import { expect } from "chai";

import { decide, effectOf, putOf, wordOf } from "../../support/decided.js";
import { givenAccount, givenBook, givenFreeze } from "../../support/given.js";
import { newAccountId, NOW, ORGANIZATION, STRANGER } from "../../support/names.js";
import { setAccountTier } from "../../support/operations/accounts.js";

const active = givenAccount();
const closed = givenAccount({ status: "CLOSED" });
const frozen = givenAccount({ status: "FROZEN" });
const book = givenBook({ accounts: [active, closed, frozen], freezes: [givenFreeze({ accountId: frozen.id })] });

describe("moving an account to another tier", () => {
  it("notes the tier in the book, and leaves all else as it is", () => {
    const command = setAccountTier(ORGANIZATION, active.id, "full");
    const effect = effectOf(decide(book, command));
    expect(putOf(effect, "accounts")).to.deep.equal({ ...active, tier: "full", updatedAt: NOW });
    expect(effect.entries).to.have.lengthOf(1);
    expect(effect.entries[0]).to.include({ kind: "account.tiered", detail: "full", posting: undefined });
    expect(effect.limits).to.equal(undefined);
  });

  it("is possible while the account is frozen", () => {
    const decision = decide(book, setAccountTier(ORGANIZATION, frozen.id));
    expect(decision).to.have.nested.property("resource.resource.freezes").with.lengthOf(1);
  });

  for (const [expected, organization, id, tier] of [
    ["replay", ORGANIZATION, active.id, "default"],
    ["ACCOUNT_NOT_FOUND", ORGANIZATION, newAccountId(), "default"],
    ["ACCOUNT_NOT_FOUND", STRANGER, closed.id, "default"],
    ["ACCOUNT_CLOSED", ORGANIZATION, closed.id, "default"],
  ] as const) {
    it(`decides ${expected} before what comes after it`, () => {
      expect(wordOf(decide(book, setAccountTier(organization, id, tier)))).to.equal(expected);
    });
  }
});
