import { expect } from "chai";

import { givenAccount, givenBook } from "../support/given.js";
import { asLookedUp } from "../support/looked-up.js";
import { newAccountId, NOW, ORGANIZATION } from "../support/names.js";
import { freezeAccount, revealAccount } from "../support/operations/accounts.js";
import { mustBeModelled } from "../support/operations/table.js";
import { mustBeStorable } from "../support/stored.js";

// What `decide` of test/support/decided.ts asks of every decision.

describe("a decision of these tests is refused", () => {
  const account = givenAccount();
  const book = givenBook({ accounts: [account] });
  const { id } = account;

  it("if it reads a row that its lookup does not name", () => {
    const looked = asLookedUp(book, freezeAccount(ORGANIZATION, id));
    const other = newAccountId();
    expect(looked.account(ORGANIZATION, id)).to.equal(account);
    expect(() => looked.account(ORGANIZATION, other)).to.throw(
      `the decision on freezeAccount reads "accounts ${other}", which its lookup does not name`,
    );
  });

  it("if it changes what no UPDATE stores", () => {
    const putting = (row: typeof account) => () => {
      mustBeStorable(book, { entries: [], puts: [{ table: "accounts", row }] });
    };
    expect(putting({ ...account, updatedAt: NOW })).not.to.throw();
    expect(putting({ ...account, createdAt: NOW })).to.throw("changes createdAt of accounts, and no UPDATE sets that");
  });

  it("if it moves money, and the models do not know its command", () => {
    const posting = { debit: "reserve", credit: "available", amountCents: account.availableCents } as const;
    const moving = (command: Parameters<typeof mustBeModelled>[0]) => () => {
      mustBeModelled(command, [{ posting }]);
    };
    expect(moving(freezeAccount(ORGANIZATION, id))).not.to.throw();
    expect(moving(revealAccount(ORGANIZATION, id))).to.throw("revealAccount moves money");
  });
});
