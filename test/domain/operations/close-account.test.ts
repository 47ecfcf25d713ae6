import { expect } from "chai";

import type { CloseAccount } from "../../../src/domain/commands.js";
import { replay } from "../../../src/domain/decision.js";
import { closeAccount as operation } from "../../../src/domain/operations/close-account.js";
import { NO_CENTS, toCents } from "../../../src/domain/values/cents.js";
import { parseStatusReason } from "../../../src/domain/values/text.js";
import { closeAccount, TEST_ACTOR, valid } from "../../support/commands.js";
import { givenAccount, givenBook, givenHolder, givenPerson, NOW, ORGANIZATION, STRANGER } from "../../support/given.js";

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
    expect(operation.decide(givenBook({ accounts: [account] }), close(account), NOW)).to.deep.equal({
      kind: "effect",
      resource: { ...changed, person: givenPerson(), freezes: [] },
      effect: {
        entries: [
          {
            organizationId: ORGANIZATION,
            accountId: account.id,
            transactionId: undefined,
            freezeId: undefined,
            kind: "account.closed",
            posting: undefined,
            balancesAfter: EMPTY,
            actor: TEST_ACTOR,
            reason: NOTE,
            recordedAt: NOW,
          },
        ],
        puts: [
          { table: "accounts", row: changed },
          { table: "accountHolders", row: { ...givenHolder(account), isOpen: false } },
        ],
      },
    });
  });

  it("returns an account that is CLOSED as it is, with the note that it had", () => {
    const account = givenAccount({ status: "CLOSED", ...EMPTY });
    const decision = operation.decide(givenBook({ accounts: [account] }), close(account), NOW);
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
      const decision = operation.decide(givenBook({ accounts: [account] }), close(account), NOW);
      expect(decision).to.deep.equal({ kind: "refusal", refusal: { ...facts, accountId: account.id } });
    });
  }

  it("refuses another version than the caller has read, before it looks at the status", () => {
    const account = givenAccount({ status: "FROZEN", lastSeq: 7, ...EMPTY });
    const decide = (etag: string): unknown =>
      operation.decide(givenBook({ accounts: [account] }), { ...close(account), etag }, NOW);
    expect(decide("6")).to.deep.equal({ kind: "refusal", refusal: { reason: "ETAG_MISMATCH", etag: "7" } });
    expect(decide("7")).to.have.deep.nested.property("refusal.reason", "INVALID_TRANSITION");
  });

  it("refuses a frozen account before looking at its balance", () => {
    const account = givenAccount({ status: "FROZEN" });
    expect(operation.decide(givenBook({ accounts: [account] }), close(account), NOW)).to.deep.equal({
      kind: "refusal",
      refusal: { reason: "INVALID_TRANSITION", from: "FROZEN", to: "CLOSED" },
    });
  });

  it("refuses an account that does not exist", () => {
    const account = givenAccount();
    expect(operation.decide(givenBook(), close(account), NOW)).to.deep.equal({
      kind: "refusal",
      refusal: { reason: "ACCOUNT_NOT_FOUND", accountId: account.id },
    });
  });
});
