import { expect } from "chai";

import { type Book, replay, type ResourceId } from "../../../src/domain/decision.js";
import { STANDING_FREEZES_MAX } from "../../../src/domain/freeze.js";
import { freezeAccount as operation } from "../../../src/domain/operations/freeze-account.js";
import { NO_CENTS } from "../../../src/domain/values/cents.js";
import { NO_REASON, parseIdempotencyKey, parseStatusReason } from "../../../src/domain/values/text.js";
import type { Loaded } from "../../../src/ledger/ports/store.js";
import { freezeAccount, newAccountId, newTransactionId, TEST_ACTOR, valid } from "../../support/commands.js";
import {
  EARLIER,
  effectOf,
  erasedHolder,
  givenAccount,
  givenBook,
  givenFreeze,
  givenPerson,
  NOW,
  ORGANIZATION,
  putOf,
  STRANGER,
  wordOf,
} from "../../support/given.js";

const NOTE = valid(parseStatusReason("order 12"));
const ORDER = { reason: "COURT_ORDER", note: NOTE } as const;

const account = givenAccount();
const frozen = givenAccount({ status: "FROZEN" });
const standing = givenFreeze({ accountId: frozen.id, ...ORDER });

/** A book in which the key "k" names a resource. */
function bookWithKey(resourceId: ResourceId, rows: Partial<Loaded>): Book {
  const used = { organizationId: ORGANIZATION, key: valid(parseIdempotencyKey("k")), resourceId, createdAt: EARLIER };
  return givenBook({ ...rows, idempotencyKeys: [used] });
}

describe("freezing an account", () => {
  it("makes it FROZEN, with a freeze that has the reason, the note, the author and the time", () => {
    const command = freezeAccount(ORGANIZATION, account.id, { ...ORDER, key: "k" });
    const freeze = givenFreeze({ id: command.newFreezeId, accountId: account.id, ...ORDER, createdAt: NOW });
    const changed = { ...account, status: "FROZEN", statusNote: NO_REASON, updatedAt: NOW };
    expect(operation.decide(givenBook({ accounts: [account] }), command, NOW)).to.deep.equal({
      kind: "effect",
      resource: { ...changed, person: givenPerson(), freezes: [freeze], freeze },
      effect: {
        entries: [
          {
            organizationId: ORGANIZATION,
            accountId: account.id,
            transactionId: undefined,
            freezeId: freeze.id,
            kind: "account.frozen",
            posting: undefined,
            balancesAfter: { availableCents: account.availableCents, heldCents: account.heldCents },
            actor: TEST_ACTOR,
            reason: NOTE,
            recordedAt: NOW,
          },
        ],
        puts: [
          { table: "accounts", row: changed },
          { table: "freezes", row: freeze },
          {
            table: "idempotencyKeys",
            row: { organizationId: ORGANIZATION, key: "k", resourceId: freeze.id, createdAt: NOW },
          },
        ],
      },
    });
  });

  it("takes the note of the last unfreeze from the account: the freezes have the notes", () => {
    const again = givenAccount({ statusNote: valid(parseStatusReason("found again")) });
    const decision = operation.decide(givenBook({ accounts: [again] }), freezeAccount(ORGANIZATION, again.id), NOW);
    expect(putOf(effectOf(decision), "accounts")).to.include({ status: "FROZEN", statusNote: NO_REASON });
  });

  it("adds a freeze to a frozen account, even with the same reason and note", () => {
    const command = freezeAccount(ORGANIZATION, frozen.id, ORDER);
    const book = givenBook({ accounts: [frozen], freezes: [standing] });
    const added = givenFreeze({ id: command.newFreezeId, accountId: frozen.id, ...ORDER, createdAt: NOW });
    expect(operation.decide(book, command, NOW)).to.deep.include({
      kind: "effect",
      resource: { ...frozen, updatedAt: NOW, person: givenPerson(), freezes: [standing, added], freeze: added },
    });
  });

  it("freezes an account whose personal data was erased", () => {
    const book = givenBook({ accounts: [account], accountHolders: [erasedHolder(account)] });
    const decision = operation.decide(book, freezeAccount(ORGANIZATION, account.id), NOW);
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
      expect(operation.decide(book, command, NOW)).to.deep.equal(
        replay({ ...frozen, person: givenPerson(), freezes, freeze: first }),
      );
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
      expect(wordOf(operation.decide(book, command, NOW))).to.equal("IDEMPOTENCY_KEY_REUSED");
    });
  }

  it("refuses a key that names a transaction", () => {
    const book = bookWithKey(newTransactionId(), { accounts: [frozen] });
    const command = freezeAccount(ORGANIZATION, frozen.id, { ...ORDER, key: "k" });
    expect(wordOf(operation.decide(book, command, NOW))).to.equal("IDEMPOTENCY_KEY_REUSED");
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
      const book = givenBook({ accounts: [full], freezes });
      const decision = operation.decide(book, freezeAccount(ORGANIZATION, full.id), NOW);
      expect(decision).to.deep.equal({ kind: "refusal", refusal: { ...facts, accountId: full.id } });
    });
  }

  it("does not count the freezes that were lifted", () => {
    const lifted = { by: TEST_ACTOR, at: EARLIER, note: NO_REASON };
    const freezes = Array.from({ length: STANDING_FREEZES_MAX }, (_, index) =>
      givenFreeze({ accountId: frozen.id, lifted: index === 0 ? lifted : undefined }),
    );
    const decision = operation.decide(
      givenBook({ accounts: [frozen], freezes }),
      freezeAccount(ORGANIZATION, frozen.id),
      NOW,
    );
    expect(wordOf(decision)).to.equal("effect");
  });

  it("refuses an account that does not exist", () => {
    const command = freezeAccount(ORGANIZATION, account.id, { key: "k" });
    expect(operation.decide(givenBook(), command, NOW)).to.deep.equal({
      kind: "refusal",
      refusal: { reason: "ACCOUNT_NOT_FOUND", accountId: account.id },
    });
  });
});
