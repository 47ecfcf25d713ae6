import { expect } from "chai";

import { replay } from "../../../src/domain/decision.js";
import { depositReference, newAccountId, numberAccount } from "../../support/commands.js";
import {
  decide,
  effectOf,
  expectRefused,
  givenAccount,
  givenBook,
  NOW,
  ORGANIZATION,
  putOf,
  STRANGER,
} from "../../support/given.js";

const [FIRST, SECOND] = [depositReference(0), depositReference(1)];
const account = givenAccount();
const other = givenAccount({ depositReference: FIRST });

describe("numbering an account", () => {
  it("gives it the first reference that no account has", () => {
    const decision = decide({ accounts: [account, other] }, numberAccount(ORGANIZATION, account.id, [FIRST, SECOND]));
    const effect = effectOf(decision);
    expect(effect.entries).to.have.length(1);
    expect(effect.entries[0]).to.deep.include({
      kind: "account.numbered",
      accountId: account.id,
      detail: SECOND,
      posting: undefined,
      balancesAfter: { availableCents: 10_000, heldCents: 2_000 },
    });
    const row = { ...account, depositReference: SECOND, updatedAt: NOW };
    expect(putOf(effect, "accounts")).to.deep.equal(row);
    expect(decision).to.deep.include({ resource: { account: row } });
  });

  it("sees the reference that an earlier command of the batch gave", () => {
    const third = givenAccount();
    const book = givenBook({ accounts: [account, third] });
    book.apply(effectOf(decide(book, numberAccount(ORGANIZATION, account.id, [FIRST]))));
    const decision = decide(book, numberAccount(ORGANIZATION, third.id, [FIRST]));
    expect(decision).to.deep.equal(replay({ account: third }));
  });

  it("may give a reference that an account of another organization has", () => {
    const book = givenBook({ accounts: [account, { ...other, organizationId: STRANGER }] });
    const effect = effectOf(decide(book, numberAccount(ORGANIZATION, account.id, [FIRST])));
    expect(putOf(effect, "accounts")?.depositReference).to.equal(FIRST);
  });

  for (const [what, of, references] of [
    ["an account that has one", other, [SECOND]],
    ["if none of the references is free", account, [FIRST]],
  ] as const) {
    it(`is a replay for ${what}`, () => {
      const decision = decide({ accounts: [account, other] }, numberAccount(ORGANIZATION, of.id, references));
      expect(decision).to.deep.equal(replay({ account: of }));
    });
  }

  it("refuses an account that is not there", () => {
    const accountId = newAccountId();
    const decision = decide({}, numberAccount(ORGANIZATION, accountId));
    expectRefused(decision, { reason: "ACCOUNT_NOT_FOUND", accountId });
  });
});
