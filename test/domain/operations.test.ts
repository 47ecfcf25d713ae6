import { expect } from "chai";

import { freezeAccount, newAccountId } from "../support/commands.js";
import { decide, givenAccount, givenBook, ORGANIZATION } from "../support/given.js";
import { asLookedUp } from "../support/looked-up.js";

describe("the decisions of these tests", () => {
  const account = givenAccount();
  const book = givenBook({ accounts: [account] });
  const freeze = freezeAccount(ORGANIZATION, account.id);

  it("throw if they read a row that their lookup does not name", () => {
    const other = newAccountId();
    expect(() => asLookedUp(book, freeze).account(ORGANIZATION, other)).to.throw(
      `the decision on freezeAccount reads "account ${other}", which its lookup does not name`,
    );
    expect(decide(book, freeze).kind).to.equal("effect");
  });
});
