import { expect } from "chai";

import type { CreateAccount } from "../../../src/domain/commands.js";
import { replay } from "../../../src/domain/decision.js";
import { DEFAULT_TIER } from "../../../src/domain/limits/limits.js";
import { createAccount as operation } from "../../../src/domain/operations/create-account.js";
import type { EmailAddress } from "../../../src/domain/values/email-address.js";
import type { PhoneNumber } from "../../../src/domain/values/phone-number.js";
import { parseIdempotencyKey } from "../../../src/domain/values/text.js";
import { createAccount, depositReference, TEST_ACTOR, valid } from "../../support/commands.js";
import {
  EARLIER,
  effectOf,
  erasedHolder,
  givenAccount,
  givenBook,
  givenHolder,
  givenPerson,
  givenTransaction,
  NOW,
  ORGANIZATION,
  putOf,
  STRANGER,
  wordOf,
} from "../../support/given.js";

const decideCreateAccount = operation.decide;

const KEY = valid(parseIdempotencyKey("k"));
const OTHER_PHONE = "+254733000000" as PhoneNumber;
const OTHER_EMAIL = "other@example.com" as EmailAddress;

const create = (given: Parameters<typeof createAccount>[2] = {}, userId = "user"): CreateAccount =>
  createAccount(ORGANIZATION, userId, given);

describe("creating an account", () => {
  it("makes an active account with a balance of zero, and a row of the journal", () => {
    const command = create({ email: OTHER_EMAIL, key: "k" });
    const decision = decideCreateAccount(givenBook(), command, NOW);
    const account = {
      id: command.newAccountId,
      organizationId: ORGANIZATION,
      status: "ACTIVE",
      statusNote: "",
      availableCents: 0,
      heldCents: 0,
      openPayments: 0,
      tier: DEFAULT_TIER,
      depositReference: undefined,
      usage: undefined,
      createdAt: NOW,
      updatedAt: NOW,
      lastSeq: 0,
    };
    const person = { userId: "user", phoneNumber: "+254712345678", email: OTHER_EMAIL };
    expect(decision).to.deep.equal({
      kind: "effect",
      resource: { ...account, person, freezes: [] },
      effect: {
        entries: [
          {
            organizationId: ORGANIZATION,
            accountId: command.newAccountId,
            transactionId: undefined,
            freezeId: undefined,
            kind: "account.created",
            posting: undefined,
            balancesAfter: { availableCents: 0, heldCents: 0 },
            detail: undefined,
            actor: TEST_ACTOR,
            reason: "",
            recordedAt: NOW,
          },
        ],
        puts: [
          { table: "accounts", row: account },
          { table: "accountHolders", row: { ...givenHolder(givenAccount({ id: account.id })), person } },
          {
            table: "idempotencyKeys",
            row: { organizationId: ORGANIZATION, key: KEY, resourceId: account.id, createdAt: NOW },
          },
        ],
      },
    });
  });

  it("gets the first deposit reference that no account has, and says so in its row", () => {
    const taken = depositReference(0);
    const depositReferences = [taken, depositReference(1), depositReference(2)];
    const book = givenBook({ accounts: [givenAccount({ depositReference: taken })] });
    const effect = effectOf(decideCreateAccount(book, create({ depositReferences }, "another"), NOW));
    expect(putOf(effect, "accounts")?.depositReference).to.equal(depositReference(1));
    expect(effect.entries[0]?.detail).to.equal(depositReference(1));
  });

  it("keeps no idempotency key when none was sent", () => {
    expect(putOf(effectOf(decideCreateAccount(givenBook(), create(), NOW)), "idempotencyKeys")).to.equal(undefined);
  });

  describe("for a user who has one", () => {
    const existing = givenAccount({ status: "FROZEN" });
    const book = givenBook({ accounts: [existing] });

    it("answers with it as it is now, whatever became of it", () => {
      expect(decideCreateAccount(book, create(), NOW)).to.deep.equal(
        replay({ ...existing, person: givenPerson(), freezes: [] }),
      );
    });

    for (const [what, given, differingFields] of [
      ["another phone number", { phoneNumber: OTHER_PHONE }, ["phone_number"]],
      ["another e-mail address", { email: OTHER_EMAIL }, ["email"]],
      ["both", { phoneNumber: OTHER_PHONE, email: OTHER_EMAIL }, ["phone_number", "email"]],
    ] as const) {
      it(`refuses ${what}, and names the account and what differs`, () => {
        expect(decideCreateAccount(book, create(given), NOW)).to.deep.equal({
          kind: "refusal",
          refusal: { reason: "ACCOUNT_ALREADY_EXISTS", accountId: existing.id, differingFields },
        });
      });
    }

    it("makes another for the same user_id in another organization", () => {
      expect(wordOf(decideCreateAccount(book, { ...create(), organizationId: STRANGER }, NOW))).to.equal("effect");
    });
  });

  describe("after the account of the user was erased", () => {
    const account = givenAccount();
    const erased = erasedHolder(account);
    const idempotencyKeys = [{ organizationId: ORGANIZATION, key: KEY, resourceId: account.id, createdAt: EARLIER }];
    const book = givenBook({ accounts: [account], accountHolders: [erased], idempotencyKeys });

    it("makes another account for the same user_id", () => {
      const command = create();
      const effect = effectOf(decideCreateAccount(book, command, NOW));
      expect(putOf(effect, "accounts")?.id).to.equal(command.newAccountId);
      expect(putOf(effect, "accountHolders")?.person).to.deep.equal(givenPerson());
    });

    it("refuses the idempotency key that made it: nobody knows any more for whom it was", () => {
      expect(wordOf(decideCreateAccount(book, create({ key: "k" }), NOW))).to.equal("IDEMPOTENCY_KEY_REUSED");
    });
  });

  describe("for a user whose account is closed", () => {
    const account = givenAccount({ status: "CLOSED" });
    const closed = { ...givenHolder(account), isOpen: false };
    const idempotencyKeys = [{ organizationId: ORGANIZATION, key: KEY, resourceId: account.id, createdAt: EARLIER }];
    const book = givenBook({ accounts: [account], accountHolders: [closed], idempotencyKeys });

    it("makes a new one", () => {
      const command = create();
      expect(putOf(effectOf(decideCreateAccount(book, command, NOW)), "accounts")?.id).to.equal(command.newAccountId);
    });

    it("answers the idempotency key that made the closed one with that one", () => {
      const again = decideCreateAccount(book, create({ key: "k" }), NOW);
      expect(again).to.deep.equal(replay({ ...account, person: givenPerson(), freezes: [] }));
    });
  });

  describe("for a user whose data was changed since", () => {
    const account = givenAccount();
    const person = givenPerson({ phoneNumber: OTHER_PHONE });
    const changed = { ...givenHolder(account), person, phoneNumberChangedAt: EARLIER };
    const idempotencyKeys = [{ organizationId: ORGANIZATION, key: KEY, resourceId: account.id, createdAt: EARLIER }];
    const book = givenBook({ accounts: [account], accountHolders: [changed], idempotencyKeys });

    for (const [key, reason] of [
      ["k", "IDEMPOTENCY_KEY_REUSED"],
      [undefined, "ACCOUNT_ALREADY_EXISTS"],
    ] as const) {
      it(`refuses a repeat of the first call ${key === undefined ? "without" : "with"} its key: the old value is gone`, () => {
        expect(wordOf(decideCreateAccount(book, create(key && { key }), NOW))).to.equal(reason);
      });

      it(`answers the values of now ${key === undefined ? "without" : "with"} the key`, () => {
        const command = create({ phoneNumber: OTHER_PHONE, ...(key && { key }) });
        const decision = decideCreateAccount(book, command, NOW);
        expect(decision).to.deep.include({ kind: "replay", resource: { ...account, person, freezes: [] } });
      });
    }
  });

  describe("with an idempotency key that was used", () => {
    const first = givenAccount();
    const other = givenAccount();
    const minted = givenTransaction({ accountId: first.id });
    const book = (resourceId: typeof first.id | typeof minted.id): ReturnType<typeof givenBook> =>
      givenBook({
        accounts: [first, other],
        accountHolders: [givenHolder(first), givenHolder(other, { userId: create({}, "other").userId })],
        transactions: [minted],
        idempotencyKeys: [{ organizationId: ORGANIZATION, key: KEY, resourceId, createdAt: EARLIER }],
      });

    it("answers with the account that it made", () => {
      const again = decideCreateAccount(book(first.id), create({ key: "k" }), NOW);
      expect(again).to.deep.equal(replay({ ...first, person: givenPerson(), freezes: [] }));
    });

    for (const [what, command] of [
      ["for another user, though that one has an account too", create({ key: "k" }, "other")],
      ["for a new user", create({ key: "k" }, "third")],
      ["with another phone number", create({ key: "k", phoneNumber: OTHER_PHONE })],
      ["with another e-mail address", create({ key: "k", email: OTHER_EMAIL })],
    ] as const) {
      it(`refuses it ${what}`, () => {
        expect(decideCreateAccount(book(first.id), command, NOW)).to.deep.equal({
          kind: "refusal",
          refusal: { reason: "IDEMPOTENCY_KEY_REUSED" },
        });
      });
    }

    it("refuses it when it made a transaction, though the account exists", () => {
      expect(wordOf(decideCreateAccount(book(minted.id), create({ key: "k" }), NOW))).to.equal(
        "IDEMPOTENCY_KEY_REUSED",
      );
    });

    it("does not know another organization's keys", () => {
      const stranger = decideCreateAccount(book(first.id), { ...create({ key: "k" }), organizationId: STRANGER }, NOW);
      expect(wordOf(stranger)).to.equal("effect");
    });

    it("does as if there were none when it is a new one", () => {
      expect(wordOf(decideCreateAccount(book(first.id), create({ key: "new" }), NOW))).to.equal("replay");
    });
  });

  const taken = givenAccount();
  const used = { organizationId: ORGANIZATION, key: KEY, resourceId: taken.id, createdAt: EARLIER };
  for (const [name, idempotencyKeys, reason] of [
    // The order of rows is the order of checks.
    ["refuses a used idempotency key before looking at the user", [used], "IDEMPOTENCY_KEY_REUSED"],
    ["refuses a user who has another account", [], "ACCOUNT_ALREADY_EXISTS"],
  ] as const) {
    it(name, () => {
      const book = givenBook({ accounts: [taken], idempotencyKeys });
      const command = create({ key: "k", phoneNumber: OTHER_PHONE });
      expect(wordOf(decideCreateAccount(book, command, NOW))).to.equal(reason);
    });
  }
});
