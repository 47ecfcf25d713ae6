import { expect } from "chai";

import type { CloseAccount } from "../../../src/domain/accounts/close-account.js";
import { replay } from "../../../src/domain/decision.js";
import { NO_CENTS, toCents } from "../../../src/domain/values/cents.js";
import { parseStatusReason } from "../../../src/domain/values/text.js";
import { decide, expectRefused, expectWritten } from "../../support/decided.js";
import { entryOf, givenAccount, givenHolder, givenPerson } from "../../support/given.js";
import { NOW, ORGANIZATION, STRANGER, valid } from "../../support/names.js";
import { closeAccount } from "../../support/operations/accounts.js";

const NOTE = valid(parseStatusReason("moved away"));
const EMPTY = { availableCents: NO_CENTS, heldCents: NO_CENTS };

const close = ({ id }: ReturnType<typeof givenAccount>): CloseAccount => ({
  ...closeAccount(ORGANIZATION, id),
  note: NOTE,
});

describe("closing an account", () => {
  it("makes ACTIVE CLOSED, with the note, and a row of the journal that moves no money", () => {
    const account = givenAccount(EMPTY);
    const changed = { ...account, status: "CLOSED", statusNote: NOTE, updatedAt: NOW };
    expectWritten(decide({ accounts: [account] }, close(account)), {
      resource: { ...changed, person: givenPerson(), freezes: [] },
      entries: [entryOf({ accountId: account.id, kind: "account.closed", balancesAfter: EMPTY, reason: NOTE })],
      puts: [
        { table: "accounts", row: changed },
        { table: "accountHolders", row: { ...givenHolder(account), isOpen: false } },
      ],
    });
  });

  it("returns an account that is CLOSED as it is, with the note that it had", () => {
    const account = givenAccount({ status: "CLOSED", ...EMPTY });
    const decision = decide({ accounts: [account] }, close(account));
    expect(decision).to.deep.equal(replay({ ...account, person: givenPerson(), freezes: [] }));
  });

  // The order of rows is the order of checks.
  const [one, two] = [toCents(1), toCents(2)];
  for (const [what, given, facts] of [
    [
      "another organization's account, whatever its status",
      { organizationId: STRANGER, status: "CLOSED" },
      { reason: "ACCOUNT_NOT_FOUND" },
    ],
    [
      "money that is held",
      { ...EMPTY, heldCents: one },
      { reason: "ACCOUNT_NOT_EMPTY", availableCents: 0, heldCents: 1 },
    ],
    [
      "a payment that is on its way",
      { ...EMPTY, openPayments: 1 },
      { reason: "ACCOUNT_HAS_OPEN_TRANSACTIONS", openPayments: 1 },
    ],
    [
      "money that is available",
      { ...EMPTY, availableCents: one },
      { reason: "ACCOUNT_NOT_EMPTY", availableCents: 1, heldCents: 0 },
    ],
    [
      "money of both kinds",
      { availableCents: one, heldCents: two },
      { reason: "ACCOUNT_NOT_EMPTY", availableCents: 1, heldCents: 2 },
    ],
  ] as const) {
    it(`refuses ${what}`, () => {
      const account = givenAccount(given);
      const decision = decide({ accounts: [account] }, close(account));
      expectRefused(decision, { ...facts, accountId: account.id });
    });
  }

  it("refuses another version than the caller has read, before it looks at the status", () => {
    const account = givenAccount({ status: "FROZEN", lastSeq: 7, ...EMPTY });
    const closeAt = (etag: string) => decide({ accounts: [account] }, { ...close(account), etag });
    expectRefused(closeAt("6"), { reason: "ETAG_MISMATCH", etag: "7" });
    expect(closeAt("7")).to.have.deep.nested.property("refusal.reason", "INVALID_TRANSITION");
  });

  it("refuses a frozen account before looking at its balance", () => {
    const account = givenAccount({ status: "FROZEN" });
    expectRefused(decide({ accounts: [account] }, close(account)), {
      reason: "INVALID_TRANSITION",
      from: "FROZEN",
      to: "CLOSED",
    });
  });

  it("refuses an account that does not exist", () => {
    const account = givenAccount();
    expectRefused(decide({}, close(account)), { reason: "ACCOUNT_NOT_FOUND", accountId: account.id });
  });
});
