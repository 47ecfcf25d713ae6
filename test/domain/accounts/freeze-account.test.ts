import { expect } from "chai";

import { replay, type ResourceId } from "../../../src/domain/decision.js";
import { STANDING_FREEZES_MAX } from "../../../src/domain/freeze.js";
import { NO_CENTS } from "../../../src/domain/values/cents.js";
import { NO_REASON, parseStatusReason } from "../../../src/domain/values/text.js";
import type { BatchBook } from "../../../src/ledger/batch-book.js";
import type { Loaded } from "../../../src/ledger/ports/store.js";
import { decide, effectOf, expectRefused, expectWritten, putOf, wordOf } from "../../support/decided.js";
import {
  balancesOf,
  entryOf,
  erasedHolder,
  givenAccount,
  givenBook,
  givenFreeze,
  givenPerson,
  usedKey,
} from "../../support/given.js";
import {
  EARLIER,
  newAccountId,
  newTransactionId,
  NOW,
  ORGANIZATION,
  STRANGER,
  TEST_ACTOR,
  valid,
} from "../../support/names.js";
import { freezeAccount } from "../../support/operations/accounts.js";

const NOTE = valid(parseStatusReason("order 12"));
const ORDER = { reason: "COURT_ORDER", note: NOTE } as const;

const account = givenAccount();
const frozen = givenAccount({ status: "FROZEN" });
const standing = givenFreeze({ accountId: frozen.id, ...ORDER });

/** A book in which the key "k" names a resource. */
function bookWithKey(resourceId: ResourceId, rows: Partial<Loaded>): BatchBook {
  return givenBook({ ...rows, idempotencyKeys: [usedKey(resourceId)] });
}

describe("freezing an account", () => {
  it("makes it FROZEN, with a freeze that has the reason, the note, the author and the time", () => {
    const command = freezeAccount(ORGANIZATION, account.id, { ...ORDER, key: "k" });
    const freeze = givenFreeze({ id: command.newFreezeId, accountId: account.id, ...ORDER, createdAt: NOW });
    const changed = { ...account, status: "FROZEN", statusNote: NO_REASON, updatedAt: NOW };
    expectWritten(decide({ accounts: [account] }, command), {
      resource: { ...changed, person: givenPerson(), freezes: [freeze], freeze },
      entries: [
        entryOf({
          accountId: account.id,
          freezeId: freeze.id,
          kind: "account.frozen",
          balancesAfter: balancesOf(account),
          reason: NOTE,
        }),
      ],
      puts: [
        { table: "accounts", row: changed },
        { table: "freezes", row: freeze },
        { table: "idempotencyKeys", row: usedKey(freeze.id, NOW) },
      ],
    });
  });

  it("takes the note of the last unfreeze from the account: the freezes have the notes", () => {
    const again = givenAccount({ statusNote: valid(parseStatusReason("found again")) });
    const decision = decide({ accounts: [again] }, freezeAccount(ORGANIZATION, again.id));
    expect(putOf(effectOf(decision), "accounts")).to.include({ status: "FROZEN", statusNote: NO_REASON });
  });

  it("adds a freeze to a frozen account, even with the same reason and note", () => {
    const command = freezeAccount(ORGANIZATION, frozen.id, ORDER);
    const added = givenFreeze({ id: command.newFreezeId, accountId: frozen.id, ...ORDER, createdAt: NOW });
    expect(decide({ accounts: [frozen], freezes: [standing] }, command)).to.deep.include({
      kind: "effect",
      resource: { ...frozen, updatedAt: NOW, person: givenPerson(), freezes: [standing, added], freeze: added },
    });
  });

  it("freezes an account whose personal data was erased", () => {
    const book = givenBook({ accounts: [account], accountHolders: [erasedHolder(account)] });
    const decision = decide(book, freezeAccount(ORGANIZATION, account.id));
    expect(decision).to.have.nested.property("resource.status", "FROZEN");
    expect(decision).to.have.nested.property("resource.person", undefined);
  });

  for (const [what, lifted] of [
    ["stands", undefined],
    ["was lifted", { by: TEST_ACTOR, at: NOW, note: NO_REASON }],
  ] as const) {
    it(`returns the freeze of the first call with the key, which ${what}`, () => {
      const first = { ...standing, lifted };
      const book = bookWithKey(first.id, { accounts: [frozen], freezes: [first] });
      const command = freezeAccount(ORGANIZATION, frozen.id, { ...ORDER, key: "k" });
      const freezes = lifted === undefined ? [first] : [];
      expect(decide(book, command)).to.deep.equal(replay({ ...frozen, person: givenPerson(), freezes, freeze: first }));
    });
  }

  for (const [what, given] of [
    ["another reason", { accountId: frozen.id, ...ORDER, reason: "FRAUD" }],
    ["another note", { accountId: frozen.id, ...ORDER, note: NO_REASON }],
    ["another account, although that does not exist", { accountId: newAccountId(), ...ORDER }],
  ] as const) {
    it(`refuses a key that was used with ${what}`, () => {
      const book = bookWithKey(standing.id, { accounts: [frozen], freezes: [standing] });
      const command = freezeAccount(ORGANIZATION, given.accountId, { ...given, key: "k" });
      expect(wordOf(decide(book, command))).to.equal("IDEMPOTENCY_KEY_REUSED");
    });
  }

  it("refuses a key that names a transaction", () => {
    const book = bookWithKey(newTransactionId(), { accounts: [frozen] });
    const command = freezeAccount(ORGANIZATION, frozen.id, { ...ORDER, key: "k" });
    expect(wordOf(decide(book, command))).to.equal("IDEMPOTENCY_KEY_REUSED");
  });

  // The order of rows is the order of checks.
  const closed = { status: "CLOSED", availableCents: NO_CENTS, heldCents: NO_CENTS } as const;
  for (const [what, given, facts] of [
    ["another organization's account", { organizationId: STRANGER, ...closed }, { reason: "ACCOUNT_NOT_FOUND" }],
    ["a closed account", closed, { reason: "ACCOUNT_CLOSED" }],
    ["one freeze more than can stand", { status: "FROZEN" }, { reason: "TOO_MANY_FREEZES", limit: 20 }],
  ] as const) {
    it(`refuses ${what}`, () => {
      const full = givenAccount(given);
      const freezes = Array.from({ length: STANDING_FREEZES_MAX }, () => givenFreeze({ accountId: full.id }));
      const decision = decide({ accounts: [full], freezes }, freezeAccount(ORGANIZATION, full.id));
      expectRefused(decision, { ...facts, accountId: full.id });
    });
  }

  it("does not count the freezes that were lifted", () => {
    const lifted = { by: TEST_ACTOR, at: EARLIER, note: NO_REASON };
    const freezes = Array.from({ length: STANDING_FREEZES_MAX }, (_, index) =>
      givenFreeze({ accountId: frozen.id, lifted: index === 0 ? lifted : undefined }),
    );
    const decision = decide({ accounts: [frozen], freezes }, freezeAccount(ORGANIZATION, frozen.id));
    expect(wordOf(decision)).to.equal("effect");
  });

  it("refuses an account that does not exist", () => {
    const command = freezeAccount(ORGANIZATION, account.id, { key: "k" });
    expectRefused(decide({}, command), { reason: "ACCOUNT_NOT_FOUND", accountId: account.id });
  });
});
