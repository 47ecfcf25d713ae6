import { expect } from "chai";

import { replay } from "../../../src/domain/decision.js";
import { decide, effectOf, expectRefused, putOf, wordOf } from "../../support/decided.js";
import { givenAccount, givenBook, givenPayment, givenPending, givenTransaction } from "../../support/given.js";
import { newTransactionId, NOW, ORGANIZATION } from "../../support/names.js";
import { clearFlag } from "../../support/operations/transactions.js";

const account = givenAccount();

describe("attending to a flag", () => {
  for (const status of ["PENDING", "COMPLETED", "FAILED", "CANCELED"] as const) {
    it(`lowers one flag of a transaction that is ${status}`, () => {
      const transaction = givenPending({
        accountId: account.id,
        status,
        openFlags: ["OUTCOME_UNKNOWN", "REPORT_DIFFERS"],
      });
      const book = givenBook({
        accounts: [account],
        transactions: [transaction],
        payments: [givenPayment(transaction)],
      });
      const effect = effectOf(decide(book, clearFlag(ORGANIZATION, transaction.id, "OUTCOME_UNKNOWN")));
      const [entry] = effect.entries;
      const detail = '["OUTCOME_UNKNOWN","amina"]';
      expect(entry).to.include({ kind: "transaction.attended", detail, posting: undefined });
      const attended = { ...transaction, openFlags: ["REPORT_DIFFERS"], updatedAt: NOW };
      expect(putOf(effect, "transactions")).to.deep.equal(attended);
    });
  }

  it("is a replay for a flag that is not up", () => {
    const transaction = givenPending({ accountId: account.id, status: "COMPLETED", openFlags: ["REPORT_DIFFERS"] });
    const book = givenBook({ accounts: [account], transactions: [transaction], payments: [givenPayment(transaction)] });
    const command = clearFlag(ORGANIZATION, transaction.id, "OUTCOME_UNKNOWN");
    expect(decide(book, command)).to.deep.equal(replay({ resource: transaction }));
  });

  it("refuses one that is PROCESSING, whatever its flags: somebody must resolve it", () => {
    const transaction = givenPending({ accountId: account.id, status: "PROCESSING" });
    const book = givenBook({ accounts: [account], transactions: [transaction], payments: [givenPayment(transaction)] });
    expectRefused(decide(book, clearFlag(ORGANIZATION, transaction.id, "OUTCOME_UNKNOWN")), {
      reason: "TRANSACTION_STILL_OPEN",
      transactionId: transaction.id,
    });
  });

  it("takes a late correction, which has no order of its own, and refuses any other without one", () => {
    const corrects = { kind: "LATE", transactionId: newTransactionId() } as const;
    for (const [given, word] of [
      [{ corrects }, "replay"],
      [{}, "PAYMENT_NOT_FOUND"],
    ] as const) {
      const transaction = givenTransaction({ accountId: account.id, ...given });
      const book = givenBook({ accounts: [account], transactions: [transaction] });
      const decision = decide(book, clearFlag(ORGANIZATION, transaction.id, "NOT_CREDITED"));
      expect(wordOf(decision)).to.equal(word);
    }
  });

  it("refuses a transaction that does not exist", () => {
    const decision = decide({}, clearFlag(ORGANIZATION, newTransactionId(), "REPORT_DIFFERS"));
    expect(wordOf(decision)).to.equal("TRANSACTION_NOT_FOUND");
  });
});
