import { expect } from "chai";

import { replay } from "../../../src/domain/decision.js";
import { decide, expectWritten, wordOf } from "../../support/decided.js";
import { entryOf, givenAccount, givenBook, givenPending, NO_PROOF } from "../../support/given.js";
import { newTransactionId, NOW, ORGANIZATION, STRANGER } from "../../support/names.js";
import { flag } from "../../support/operations/transactions.js";

const account = givenAccount({ openPayments: 1 });
const { availableCents, heldCents } = account;

describe("flagging a transaction", () => {
  for (const status of ["PENDING", "PROCESSING", "COMPLETED", "FAILED", "CANCELED"] as const) {
    it(`notes that a person must look at one that is ${status}`, () => {
      const transaction = givenPending({ accountId: account.id, status, openFlags: ["REPORT_DIFFERS"] });
      const flagged = { ...transaction, openFlags: ["REPORT_DIFFERS", "OUTCOME_UNKNOWN"], updatedAt: NOW };
      expectWritten(decide({ accounts: [account], transactions: [transaction] }, flag(ORGANIZATION, transaction.id)), {
        resource: flagged,
        entries: [
          entryOf({
            accountId: account.id,
            transactionId: transaction.id,
            kind: "transaction.flagged",
            balancesAfter: { availableCents, heldCents },
            ...NO_PROOF,
            detail: "OUTCOME_UNKNOWN",
          }),
        ],
        puts: [
          { table: "accounts", row: account },
          { table: "transactions", row: flagged },
        ],
      });
    });
  }

  it("is a replay while the flag is up", () => {
    const transaction = givenPending({ accountId: account.id, openFlags: ["OUTCOME_UNKNOWN"] });
    const book = givenBook({ accounts: [account], transactions: [transaction] });
    expect(decide(book, flag(ORGANIZATION, transaction.id))).to.deep.equal(replay(transaction));
  });

  it("refuses a transaction that does not exist, or is another organization's", () => {
    const hers = givenPending({ accountId: account.id, organizationId: STRANGER });
    const book = givenBook({ accounts: [account], transactions: [hers] });
    for (const id of [newTransactionId(), hers.id]) {
      expect(wordOf(decide(book, flag(ORGANIZATION, id)))).to.equal("TRANSACTION_NOT_FOUND");
    }
  });
});
