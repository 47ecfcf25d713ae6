import { expect } from "chai";

import { toCents } from "../../../src/domain/values/cents.js";
import { toUnixMillis } from "../../../src/domain/values/time.js";
import { ALONE } from "../../support/commands.js";
import { decide, effectOf, putOf, wordOf } from "../../support/decided.js";
import { givenHead, givenPayment, railAccount } from "../../support/given.js";
import { EARLIER, newTransactionId, NOW, ORGANIZATION, RAIL_TERMS } from "../../support/names.js";
import {
  APPROVED_FILE,
  BANK_FILE_ID,
  collectBankFile,
  PAYEE,
  waitingForBank,
} from "../../support/operations/bank-files.js";

const { transaction, payment, account, collected, rows } = waitingForBank();
const command = collectBankFile(ORGANIZATION, [collected]);
const DAY_MILLIS = 86_400_000;

describe("collecting a payment file", () => {
  it("gives the payments to the bank, and has a row about the file before theirs", () => {
    const effect = effectOf(decide(rows, command));
    expect(effect.entries.map(({ kind }) => kind)).to.deep.equal(["bank_file.approved", "transaction.processing"]);
    expect(JSON.parse(effect.entries[0]?.detail ?? "")).to.deep.equal([
      BANK_FILE_ID,
      RAIL_TERMS.railAccountId,
      "a".repeat(64),
      1,
      1_200_000_000,
      "2026-12-01",
    ]);
    expect(putOf(effect, "payments")).to.deep.equal({
      ...payment,
      state: "ACCEPTED",
      railReference: BANK_FILE_ID,
      begunAt: NOW,
      sends: 1,
      dueAt: toUnixMillis(NOW + 3 * DAY_MILLIS),
      updatedAt: NOW,
    });
    expect(putOf(effect, "transactions")).to.include({ id: transaction.id, status: "PROCESSING" });
  });

  it("leaves a payment its first time by the clock, which the bytes of the file have", () => {
    const ahead = { ...rows, payments: [{ ...payment, aheadMillis: 5 }] };
    expect(putOf(effectOf(decide(ahead, command)), "payments")).to.include({ aheadMillis: 5 });
  });

  it("is a replay for a file that was approved, whatever its payments are now", () => {
    const ended = [{ ...payment, state: "ENDED", number: undefined, begunAt: EARLIER } as const];
    const decision = decide({ ...rows, payments: ended, bankFiles: [APPROVED_FILE] }, command);
    expect(wordOf(decision)).to.equal("replay");
  });

  const begun = { begunAt: EARLIER, sends: 1 };
  for (const [what, given, more, reason] of [
    ["without an account at the rail", { railAccounts: [] }, {}, "RAIL_ACCOUNT_NOT_FOUND"],
    [
      "whose account has changed",
      { railAccounts: [railAccount(ORGANIZATION, { revision: 2 })] },
      {},
      "RAIL_ACCOUNT_CHANGED",
    ],
    [
      "while payouts are closed",
      { railAccounts: [railAccount(ORGANIZATION, { payouts: "closed" })] },
      {},
      "PAYOUTS_CLOSED",
    ],
    ["of a suspended organization", { books: [givenHead({ suspendedSeq: 3 })] }, {}, "ORGANIZATION_SUSPENDED"],
    ["whose day is over", {}, { day: "2023-11-13" as never }, "BANK_FILE_OUTDATED"],
    ["of a restored book", { books: [givenHead({ state: "RESTORED" })] }, {}, "PAYOUTS_CLOSED"],
    [
      "with an unknown payment",
      {},
      { payments: [{ ...collected, transactionId: newTransactionId() }] },
      "BANK_FILE_OUTDATED",
    ],
    ["with another amount", {}, { payments: [{ ...collected, amountCents: toCents(1) }] }, "BANK_FILE_OUTDATED"],
    ["with a payment twice", {}, { payments: [collected, collected] }, "BANK_FILE_OUTDATED"],
    [
      "of another account at the rail",
      { railAccounts: [railAccount(ORGANIZATION), railAccount(ORGANIZATION, { id: "other" as never })] },
      { railAccountId: "other" as never },
      "BANK_FILE_OUTDATED",
    ],
    [
      "with a canceled payment",
      {
        transactions: [{ ...transaction, status: "CANCELED" }],
        payments: [{ ...payment, state: "ENDED", number: undefined }],
      },
      {},
      "BANK_FILE_OUTDATED",
    ],
    [
      "with a payment that is in another file",
      {
        transactions: [{ ...transaction, status: "PROCESSING" }],
        payments: [{ ...payment, ...begun, state: "ACCEPTED" }],
      },
      {},
      "BANK_FILE_OUTDATED",
    ],
    [
      "that a person must release",
      { transactions: [{ ...transaction, heldFor: ["AMOUNT"] }] },
      {},
      "BANK_FILE_OUTDATED",
    ],
    [
      "with a flag",
      { transactions: [{ ...transaction, openFlags: ["REPORT_WITHOUT_ORDER"] }] },
      {},
      "BANK_FILE_OUTDATED",
    ],
    [
      "with a payment to a till",
      { payments: [givenPayment(transaction, { numberKind: "TILL", number: PAYEE })] },
      {},
      "BANK_FILE_OUTDATED",
    ],
    ["with a frozen account", { accounts: [{ ...account, status: "FROZEN" }] }, {}, "ACCOUNT_FROZEN"],
  ] as const) {
    it(`refuses a file ${what} as a whole`, () => {
      expect(wordOf(decide({ ...rows, ...(given as object) }, { ...command, ...more }))).to.equal(reason);
    });
  }

  it("needs a second person if the policy says so, and changes no payment before", () => {
    const proposing = { ...command, authority: { ...ALONE, groups: ["payouts"] } } as const;
    const effect = effectOf(decide(rows, proposing));
    expect(putOf(effect, "proposals")?.person).to.equal("amina");
    expect(putOf(effect, "payments")).to.equal(undefined);
  });
});
