import { expect } from "chai";

import type { LedgerAccount } from "../../../src/domain/account.js";
import type { EraseAccount } from "../../../src/domain/accounts/erase-account.js";
import { replay } from "../../../src/domain/decision.js";
import { NO_CENTS, toCents } from "../../../src/domain/values/cents.js";
import { parseStatusReason } from "../../../src/domain/values/text.js";
import { decide, effectOf, expectRefused, expectWritten, putsOf } from "../../support/decided.js";
import { entryOf, erasedHolder, givenAccount, givenDestination } from "../../support/given.js";
import { EARLIER, newAccountId, NOW, ORGANIZATION, STRANGER, valid } from "../../support/names.js";
import { eraseAccount } from "../../support/operations/accounts.js";

const REASON = valid(parseStatusReason("the customer asked for it"));
const EMPTY = { availableCents: NO_CENTS, heldCents: NO_CENTS };

const erase = ({ id }: Pick<LedgerAccount, "id">): EraseAccount => ({
  ...eraseAccount(ORGANIZATION, id),
  note: REASON,
});

describe("erasing the personal data of an account", () => {
  for (const status of ["ACTIVE", "FROZEN", "CLOSED"] as const) {
    it(`leaves an account that is ${status} as it is, without its person, and a row of the journal`, () => {
      const account = givenAccount({ ...EMPTY, status });
      const changed = { ...account, updatedAt: NOW };
      expectWritten(decide({ accounts: [account] }, erase(account)), {
        resource: { resource: { ...changed, person: undefined, freezes: [] } },
        entries: [entryOf({ accountId: account.id, kind: "account.erased", balancesAfter: EMPTY, reason: REASON })],
        puts: [
          { table: "accounts", row: changed },
          { table: "accountHolders", row: erasedHolder(account) },
        ],
      });
    });
  }

  it("removes the destinations of the account that are not removed, and their numbers", () => {
    const account = givenAccount(EMPTY);
    const standing = givenDestination({ accountId: account.id });
    const removed = givenDestination({ accountId: account.id, number: undefined, removedAt: EARLIER });
    const effect = effectOf(decide({ accounts: [account], destinations: [standing, removed] }, erase(account)));
    expect(effect.entries.map(({ kind, detail }) => [kind, detail])).to.deep.equal([
      ["account.erased", undefined],
      ["destination.removed", standing.id],
    ]);
    expect(putsOf(effect, "destinations")).to.deep.equal([{ ...standing, number: undefined, removedAt: NOW }]);
  });

  it("answers an account that was erased as it is, whatever came into it since", () => {
    const account = givenAccount();
    const erased = erasedHolder(account);
    expect(decide({ accounts: [account], accountHolders: [erased] }, erase(account))).to.deep.equal(
      replay({ resource: { ...account, person: undefined, freezes: [] } }),
    );
  });

  // The order of rows is the order of checks.
  for (const [what, given, facts] of [
    [
      "another organization's account, whatever its balance",
      { organizationId: STRANGER },
      { reason: "ACCOUNT_NOT_FOUND" },
    ],
    [
      "an account with money that is available",
      { ...EMPTY, availableCents: toCents(1) },
      { reason: "ACCOUNT_NOT_EMPTY", availableCents: 1, heldCents: 0 },
    ],
    [
      "an account with money that is held",
      { ...EMPTY, heldCents: toCents(1), openPayments: 1 },
      { reason: "ACCOUNT_NOT_EMPTY", availableCents: 0, heldCents: 1 },
    ],
    [
      "an account with a payment on its way",
      { ...EMPTY, openPayments: 1 },
      { reason: "ACCOUNT_HAS_OPEN_TRANSACTIONS", openPayments: 1 },
    ],
  ] as const) {
    it(`refuses ${what}`, () => {
      const account = givenAccount(given);
      expectRefused(decide({ accounts: [account] }, erase(account)), { ...facts, accountId: account.id });
    });
  }

  it("refuses an account that does not exist", () => {
    const id = newAccountId();
    expectRefused(decide({}, erase({ id })), { reason: "ACCOUNT_NOT_FOUND", accountId: id });
  });
});
