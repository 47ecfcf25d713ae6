import { expect } from "chai";

import type { UpdateAccount } from "../../../src/domain/accounts/update-account.js";
import { replay } from "../../../src/domain/decision.js";
import { type EmailAddress, NO_EMAIL } from "../../../src/domain/values/email-address.js";
import type { PhoneNumber } from "../../../src/domain/values/phone-number.js";
import { toUnixMillis } from "../../../src/domain/values/time.js";
import { decide, effectOf, expectRefused, expectWritten, putOf, wordOf } from "../../support/decided.js";
import {
  balancesOf,
  entryOf,
  erasedHolder,
  givenAccount,
  givenBook,
  givenHolder,
  givenPerson,
} from "../../support/given.js";
import { EARLIER, NOW, ORGANIZATION, STRANGER, TEST_ACTOR } from "../../support/names.js";
import { updateAccount } from "../../support/operations/accounts.js";

const PHONE = "+254733111222" as PhoneNumber;
const EMAIL = "amina@example.com" as EmailAddress;

const account = givenAccount();
const book = givenBook({ accounts: [account] });
const update = (changes: Partial<Pick<UpdateAccount, "phoneNumber" | "email" | "etag">>): UpdateAccount =>
  updateAccount(ORGANIZATION, account.id, changes);

describe("updating an account", () => {
  for (const [reason, changes, times] of [
    ["phone_number", { phoneNumber: PHONE }, { phoneNumberChangedAt: NOW, emailChangedAt: undefined }],
    ["email", { email: EMAIL }, { phoneNumberChangedAt: undefined, emailChangedAt: NOW }],
    ["phone_number, email", { phoneNumber: PHONE, email: EMAIL }, { phoneNumberChangedAt: NOW, emailChangedAt: NOW }],
  ] as const) {
    it(`changes its ${reason}, and the row of the journal names the fields without their values`, () => {
      const person = givenPerson(changes);
      const changed = { ...account, updatedAt: NOW };
      expectWritten(decide(book, update(changes)), {
        resource: { ...changed, person, freezes: [] },
        entries: [
          entryOf({ accountId: account.id, kind: "account.updated", balancesAfter: balancesOf(account), reason }),
        ],
        puts: [
          { table: "accounts", row: changed },
          { table: "accountHolders", row: { ...givenHolder(account), person, ...times } },
        ],
      });
    });
  }

  it("keeps the time of a field that it does not change", () => {
    const holder = { ...givenHolder(account), phoneNumberChangedAt: EARLIER };
    const given = givenBook({ accounts: [account], accountHolders: [holder] });
    const put = putOf(effectOf(decide(given, update({ email: EMAIL }))), "accountHolders");
    expect(put).to.deep.include({ phoneNumberChangedAt: EARLIER, emailChangedAt: NOW });
  });

  it("removes an e-mail address", () => {
    const given = givenBook({ accounts: [account], accountHolders: [givenHolder(account, { email: EMAIL })] });
    const put = putOf(effectOf(decide(given, update({ email: NO_EMAIL }))), "accountHolders");
    expect(put?.person?.email).to.equal("");
  });

  it("changes a frozen account, too: its holder may have a new phone number", () => {
    const frozen = givenAccount({ status: "FROZEN" });
    expect(wordOf(decide({ accounts: [frozen] }, updateAccount(ORGANIZATION, frozen.id)))).to.equal("effect");
  });

  it("answers with the account as it is if it has the values already", () => {
    const { phoneNumber, email } = givenPerson();
    const decision = decide(book, update({ phoneNumber, email }));
    expect(decision).to.deep.equal(replay({ ...account, person: givenPerson(), freezes: [] }));
  });

  it("changes the version that the caller names, and answers what is done already whatever it names", () => {
    expect(wordOf(decide(book, update({ phoneNumber: PHONE, etag: "7" })))).to.equal("effect");
    const { phoneNumber } = givenPerson();
    expect(wordOf(decide(book, update({ phoneNumber, etag: "6" })))).to.equal("replay");
  });

  it("refuses another version, with the present one", () => {
    expectRefused(decide(book, update({ phoneNumber: PHONE, etag: "6" })), { reason: "ETAG_MISMATCH", etag: "7" });
  });

  describe("by an operator, who sees the values masked only", () => {
    const byOperator = (changes: Parameters<typeof update>[0]): UpdateAccount => {
      return { ...update(changes), isOfOperator: true };
    };
    const sixty = Array.from({ length: 60 }, () => toUnixMillis(NOW - 1));

    it("notes a look at values that the account has already, and names the fields", () => {
      const { phoneNumber, email } = givenPerson();
      for (const [changes, names] of [
        [{ phoneNumber }, "phone_number"],
        [{ email }, "email"],
        [{ phoneNumber, email, etag: "7" }, "phone_number, email"],
      ] as const) {
        const looked = { ...account, updatedAt: NOW };
        const entry = {
          kind: "account.revealed",
          balancesAfter: balancesOf(account),
          reason: `update: ${names}`,
        } as const;
        expectWritten(decide(book, byOperator(changes)), {
          resource: { ...looked, person: givenPerson(), freezes: [] },
          entries: [entryOf({ accountId: account.id, ...entry })],
          puts: [{ table: "accounts", row: looked }],
        });
      }
    });

    it("says of a stale version the same, whether the values are those of the account or not", () => {
      for (const phoneNumber of [givenPerson().phoneNumber, PHONE]) {
        expectRefused(decide(book, byOperator({ phoneNumber, etag: "6" })), { reason: "ETAG_MISMATCH", etag: "7" });
      }
    });

    it("refuses each change beyond the limit of looks, right or wrong, before it looks at the account", () => {
      const busy = givenBook({ accounts: [account], reveals: new Map([[TEST_ACTOR, sixty]]) });
      for (const phoneNumber of [givenPerson().phoneNumber, PHONE]) {
        expect(wordOf(decide(busy, byOperator({ phoneNumber })))).to.equal("TOO_MANY_REVEALS");
        expect(wordOf(decide(busy, { ...byOperator({ phoneNumber }), organizationId: STRANGER }))).to.equal(
          "TOO_MANY_REVEALS",
        );
      }
      expect(wordOf(decide(busy, update({ phoneNumber: PHONE })))).to.equal("effect");
    });
  });

  const closed = givenAccount({ status: "CLOSED" });
  const erasedBook = givenBook({ accounts: [closed], accountHolders: [erasedHolder(closed)] });
  // The order of rows is the order of checks.
  for (const [reason, given, organizationId, id] of [
    ["ACCOUNT_NOT_FOUND", book, STRANGER, account.id],
    ["ACCOUNT_ERASED", erasedBook, ORGANIZATION, closed.id],
    ["ACCOUNT_CLOSED", givenBook({ accounts: [closed] }), ORGANIZATION, closed.id],
    ["ETAG_MISMATCH", book, ORGANIZATION, account.id],
  ] as const) {
    it(`refuses ${reason}`, () => {
      const command = updateAccount(organizationId, id, { phoneNumber: PHONE, etag: "6" });
      expect(wordOf(decide(given, command))).to.equal(reason);
    });
  }
});
