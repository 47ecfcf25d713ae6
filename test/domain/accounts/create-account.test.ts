import { expect } from "chai";

import type { CreateAccount } from "../../../src/domain/accounts/create-account.js";
import { replay } from "../../../src/domain/decision.js";
import { DEFAULT_TIER } from "../../../src/domain/limits/limits.js";
import type { EmailAddress } from "../../../src/domain/values/email-address.js";
import type { PhoneNumber } from "../../../src/domain/values/phone-number.js";
import { decide, effectOf, expectRefused, expectWritten, putOf, wordOf } from "../../support/decided.js";
import {
  entryOf,
  erasedHolder,
  givenAccount,
  givenBook,
  givenHolder,
  givenPerson,
  givenTransaction,
  usedKey,
} from "../../support/given.js";
import { depositReference, EARLIER, NOW, ORGANIZATION, STRANGER } from "../../support/names.js";
import { createAccount } from "../../support/operations/accounts.js";

const OTHER_PHONE = "+254733000000" as PhoneNumber;
const OTHER_EMAIL = "other@example.com" as EmailAddress;

const create = (given: Parameters<typeof createAccount>[2] = {}, userId = "user"): CreateAccount =>
  createAccount(ORGANIZATION, userId, given);

describe("creating an account", () => {
  it("makes an active account with a balance of zero, and a row of the journal", () => {
    const command = create({ email: OTHER_EMAIL, key: "k" });
    const decision = decide({}, command);
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
    expectWritten(decision, {
      resource: { ...account, person, freezes: [] },
      entries: [
        entryOf({
          accountId: command.newAccountId,
          kind: "account.created",
          balancesAfter: { availableCents: 0, heldCents: 0 },
          detail: undefined,
        }),
      ],
      puts: [
        { table: "accounts", row: account },
        { table: "accountHolders", row: { ...givenHolder(givenAccount({ id: account.id })), person } },
        { table: "idempotencyKeys", row: usedKey(account.id, NOW) },
      ],
    });
  });

  it("gets the first deposit reference that no account has, and says so in its row", () => {
    const taken = depositReference(0);
    const depositReferences = [taken, depositReference(1), depositReference(2)];
    const book = givenBook({ accounts: [givenAccount({ depositReference: taken })] });
    const effect = effectOf(decide(book, create({ depositReferences }, "another")));
    expect(putOf(effect, "accounts")?.depositReference).to.equal(depositReference(1));
    expect(effect.entries[0]?.detail).to.equal(depositReference(1));
  });

  it("keeps no idempotency key when none was sent", () => {
    expect(putOf(effectOf(decide({}, create())), "idempotencyKeys")).to.equal(undefined);
  });

  describe("for a user who has one", () => {
    const existing = givenAccount({ status: "FROZEN" });
    const book = givenBook({ accounts: [existing] });

    it("answers with it as it is now, whatever became of it", () => {
      expect(decide(book, create())).to.deep.equal(replay({ ...existing, person: givenPerson(), freezes: [] }));
    });

    for (const [what, given, differingFields] of [
      ["another phone number", { phoneNumber: OTHER_PHONE }, ["phone_number"]],
      ["another e-mail address", { email: OTHER_EMAIL }, ["email"]],
      ["both", { phoneNumber: OTHER_PHONE, email: OTHER_EMAIL }, ["phone_number", "email"]],
    ] as const) {
      it(`refuses ${what}, and names the account and what differs`, () => {
        expectRefused(decide(book, create(given)), {
          reason: "ACCOUNT_ALREADY_EXISTS",
          accountId: existing.id,
          differingFields,
        });
      });
    }

    it("makes another for the same user_id in another organization", () => {
      expect(wordOf(decide(book, { ...create(), organizationId: STRANGER }))).to.equal("effect");
    });
  });

  describe("after the account of the user was erased", () => {
    const account = givenAccount();
    const erased = erasedHolder(account);
    const idempotencyKeys = [usedKey(account.id)];
    const book = givenBook({ accounts: [account], accountHolders: [erased], idempotencyKeys });

    it("makes another account for the same user_id", () => {
      const command = create();
      const effect = effectOf(decide(book, command));
      expect(putOf(effect, "accounts")?.id).to.equal(command.newAccountId);
      expect(putOf(effect, "accountHolders")?.person).to.deep.equal(givenPerson());
    });

    it("refuses the idempotency key that made it: nobody knows any more for whom it was", () => {
      expect(wordOf(decide(book, create({ key: "k" })))).to.equal("IDEMPOTENCY_KEY_REUSED");
    });
  });

  describe("for a user whose account is closed", () => {
    const account = givenAccount({ status: "CLOSED" });
    const closed = { ...givenHolder(account), isOpen: false };
    const idempotencyKeys = [usedKey(account.id)];
    const book = givenBook({ accounts: [account], accountHolders: [closed], idempotencyKeys });

    it("makes a new one", () => {
      const command = create();
      expect(putOf(effectOf(decide(book, command)), "accounts")?.id).to.equal(command.newAccountId);
    });

    it("answers the idempotency key that made the closed one with that one", () => {
      const again = decide(book, create({ key: "k" }));
      expect(again).to.deep.equal(replay({ ...account, person: givenPerson(), freezes: [] }));
    });
  });

  describe("for a user whose data was changed since", () => {
    const account = givenAccount();
    const person = givenPerson({ phoneNumber: OTHER_PHONE });
    const changed = { ...givenHolder(account), person, phoneNumberChangedAt: EARLIER };
    const idempotencyKeys = [usedKey(account.id)];
    const book = givenBook({ accounts: [account], accountHolders: [changed], idempotencyKeys });

    for (const [key, reason] of [
      ["k", "IDEMPOTENCY_KEY_REUSED"],
      [undefined, "ACCOUNT_ALREADY_EXISTS"],
    ] as const) {
      it(`refuses a repeat of the first call ${key === undefined ? "without" : "with"} its key: the old value is gone`, () => {
        expect(wordOf(decide(book, create(key && { key })))).to.equal(reason);
      });

      it(`answers the values of now ${key === undefined ? "without" : "with"} the key`, () => {
        const command = create({ phoneNumber: OTHER_PHONE, ...(key && { key }) });
        const decision = decide(book, command);
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
        idempotencyKeys: [usedKey(resourceId)],
      });

    it("answers with the account that it made", () => {
      const again = decide(book(first.id), create({ key: "k" }));
      expect(again).to.deep.equal(replay({ ...first, person: givenPerson(), freezes: [] }));
    });

    for (const [what, command] of [
      ["for another user, though that one has an account too", create({ key: "k" }, "other")],
      ["for a new user", create({ key: "k" }, "third")],
      ["with another phone number", create({ key: "k", phoneNumber: OTHER_PHONE })],
      ["with another e-mail address", create({ key: "k", email: OTHER_EMAIL })],
    ] as const) {
      it(`refuses it ${what}`, () => {
        expectRefused(decide(book(first.id), command), { reason: "IDEMPOTENCY_KEY_REUSED" });
      });
    }

    it("refuses it when it made a transaction, though the account exists", () => {
      expect(wordOf(decide(book(minted.id), create({ key: "k" })))).to.equal("IDEMPOTENCY_KEY_REUSED");
    });

    it("does not know another organization's keys", () => {
      const stranger = decide(book(first.id), { ...create({ key: "k" }), organizationId: STRANGER });
      expect(wordOf(stranger)).to.equal("effect");
    });

    it("does as if there were none when it is a new one", () => {
      expect(wordOf(decide(book(first.id), create({ key: "new" })))).to.equal("replay");
    });
  });

  const taken = givenAccount();
  const used = usedKey(taken.id);
  for (const [name, idempotencyKeys, reason] of [
    // The order of rows is the order of checks.
    ["refuses a used idempotency key before looking at the user", [used], "IDEMPOTENCY_KEY_REUSED"],
    ["refuses a user who has another account", [], "ACCOUNT_ALREADY_EXISTS"],
  ] as const) {
    it(name, () => {
      const command = create({ key: "k", phoneNumber: OTHER_PHONE });
      expect(wordOf(decide({ accounts: [taken], idempotencyKeys }, command))).to.equal(reason);
    });
  }
});
