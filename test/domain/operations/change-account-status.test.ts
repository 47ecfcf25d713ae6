import { expect } from "chai";

import type { ChangeAccountStatus } from "../../../src/domain/commands.js";
import { replay } from "../../../src/domain/decision.js";
import { changeAccountStatus as operation } from "../../../src/domain/operations/change-account-status.js";
import { NO_CENTS, toCents } from "../../../src/domain/values/cents.js";
import { parseStatusReason } from "../../../src/domain/values/text.js";
import { changeStatus, TEST_ACTOR, valid } from "../../support/commands.js";
import {
  erasedHolder,
  givenAccount,
  givenBook,
  givenHolder,
  givenPerson,
  NOW,
  ORGANIZATION,
  STRANGER,
  wordOf,
} from "../../support/given.js";

const decideChangeAccountStatus = operation.decide;

const REASON = valid(parseStatusReason("the phone was stolen"));
const EMPTY = { availableCents: NO_CENTS, heldCents: NO_CENTS };

type Name = ChangeAccountStatus["name"];

const change = (name: Name, { id }: ReturnType<typeof givenAccount>): ChangeAccountStatus => ({
  ...changeStatus(name, ORGANIZATION, id),
  reason: REASON,
});

describe("changing an account's status", () => {
  for (const [name, from, to, kind] of [
    ["freezeAccount", "ACTIVE", "FROZEN", "account.frozen"],
    ["unfreezeAccount", "FROZEN", "ACTIVE", "account.unfrozen"],
    ["closeAccount", "ACTIVE", "CLOSED", "account.closed"],
  ] as const) {
    it(`${name} makes ${from} ${to}, with the reason, and a row of the journal that moves no money`, () => {
      const account = givenAccount({ status: from, ...(to === "CLOSED" ? EMPTY : {}) });
      const changed = { ...account, status: to, statusReason: REASON, updatedAt: NOW };
      const decision = decideChangeAccountStatus(givenBook({ accounts: [account] }), change(name, account), NOW);
      expect(decision).to.deep.equal({
        kind: "effect",
        resource: { ...changed, person: givenPerson() },
        effect: {
          entries: [
            {
              organizationId: ORGANIZATION,
              accountId: account.id,
              transactionId: undefined,
              kind,
              posting: undefined,
              balancesAfter: { availableCents: account.availableCents, heldCents: account.heldCents },
              actor: TEST_ACTOR,
              reason: REASON,
              recordedAt: NOW,
            },
          ],
          puts: [
            { table: "accounts", row: changed },
            ...(to === "CLOSED" ? [{ table: "accountHolders", row: { ...givenHolder(account), isOpen: false } }] : []),
          ],
        },
      });
    });
  }

  for (const [name, status] of [
    ["freezeAccount", "FROZEN"],
    ["unfreezeAccount", "ACTIVE"],
    ["closeAccount", "CLOSED"],
  ] as const) {
    it(`${name} answers an account that is ${status} as it is, with the reason that it had`, () => {
      const account = givenAccount({ status, ...EMPTY });
      const decision = decideChangeAccountStatus(givenBook({ accounts: [account] }), change(name, account), NOW);
      expect(decision).to.deep.equal(replay({ ...account, person: givenPerson() }));
    });
  }

  it("freezes an account whose personal data was erased", () => {
    const account = givenAccount(EMPTY);
    const erased = erasedHolder(account);
    const book = givenBook({ accounts: [account], accountHolders: [erased] });
    const decision = decideChangeAccountStatus(book, change("freezeAccount", account), NOW);
    expect(decision).to.deep.include({
      resource: { ...account, person: undefined, status: "FROZEN", statusReason: REASON, updatedAt: NOW },
    });
  });

  // Money in it is no obstacle to a change that is not a closing.
  for (const [name, from] of [
    ["freezeAccount", "ACTIVE"],
    ["unfreezeAccount", "FROZEN"],
  ] as const) {
    it(`${name} looks at no balance`, () => {
      const account = givenAccount({ status: from });
      const decision = decideChangeAccountStatus(givenBook({ accounts: [account] }), change(name, account), NOW);
      expect(wordOf(decision)).to.equal("effect");
    });
  }

  // The order of rows is the order of checks.
  const money = { availableCents: toCents(1), heldCents: toCents(2) };
  for (const [what, name, given, facts] of [
    [
      "another organization's account, whatever its status",
      "closeAccount",
      { organizationId: STRANGER, status: "CLOSED" },
      { reason: "ACCOUNT_NOT_FOUND" },
    ],
    ["to freeze a closed account", "freezeAccount", { status: "CLOSED", ...EMPTY }, { reason: "ACCOUNT_CLOSED" }],
    ["to unfreeze a closed account", "unfreezeAccount", { status: "CLOSED", ...EMPTY }, { reason: "ACCOUNT_CLOSED" }],
    [
      "to close an account with money that is held",
      "closeAccount",
      { ...EMPTY, heldCents: toCents(1) },
      { reason: "ACCOUNT_NOT_EMPTY", availableCents: 0, heldCents: 1 },
    ],
    [
      "to close an account with money that is available",
      "closeAccount",
      { ...EMPTY, availableCents: toCents(1) },
      { reason: "ACCOUNT_NOT_EMPTY", availableCents: 1, heldCents: 0 },
    ],
    [
      "to close an account with both",
      "closeAccount",
      money,
      { reason: "ACCOUNT_NOT_EMPTY", availableCents: 1, heldCents: 2 },
    ],
  ] as const) {
    it(`refuses ${what}`, () => {
      const account = givenAccount(given);
      const decision = decideChangeAccountStatus(givenBook({ accounts: [account] }), change(name, account), NOW);
      expect(decision).to.deep.equal({ kind: "refusal", refusal: { ...facts, accountId: account.id } });
    });
  }

  it("refuses to close a frozen account before looking at its balance", () => {
    const account = givenAccount({ status: "FROZEN", ...money });
    const decision = decideChangeAccountStatus(
      givenBook({ accounts: [account] }),
      change("closeAccount", account),
      NOW,
    );
    expect(decision).to.deep.equal({
      kind: "refusal",
      refusal: { reason: "INVALID_TRANSITION", from: "FROZEN", to: "CLOSED" },
    });
  });

  for (const name of ["freezeAccount", "unfreezeAccount", "closeAccount"] as const) {
    it(`${name} refuses an account that does not exist`, () => {
      const account = givenAccount();
      expect(decideChangeAccountStatus(givenBook(), change(name, account), NOW)).to.deep.equal({
        kind: "refusal",
        refusal: { reason: "ACCOUNT_NOT_FOUND", accountId: account.id },
      });
    });
  }
});
