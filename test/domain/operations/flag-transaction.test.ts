import { expect } from "chai";

import { replay } from "../../../src/domain/decision.js";
import { flagTransaction as operation } from "../../../src/domain/operations/flag-transaction.js";
import { flag, newTransactionId, TEST_ACTOR } from "../../support/commands.js";
import {
  givenAccount,
  givenBook,
  givenPending,
  NO_PROOF,
  NOW,
  ORGANIZATION,
  STRANGER,
  wordOf,
} from "../../support/given.js";

const account = givenAccount({ openPayments: 1 });
const { availableCents, heldCents } = account;

describe("flagging a transaction", () => {
  for (const status of ["PENDING", "PROCESSING", "COMPLETED", "FAILED", "CANCELED"] as const) {
    it(`notes that a person must look at one that is ${status}`, () => {
      const transaction = givenPending({ accountId: account.id, status, openFlags: ["REPORT_DIFFERS"] });
      const book = givenBook({ accounts: [account], transactions: [transaction] });
      const flagged = { ...transaction, openFlags: ["REPORT_DIFFERS", "OUTCOME_UNKNOWN"], updatedAt: NOW };
      expect(operation.decide(book, flag(ORGANIZATION, transaction.id), NOW)).to.deep.equal({
        kind: "effect",
        resource: flagged,
        effect: {
          entries: [
            {
              organizationId: ORGANIZATION,
              accountId: account.id,
              transactionId: transaction.id,
              freezeId: undefined,
              kind: "transaction.flagged",
              posting: undefined,
              balancesAfter: { availableCents, heldCents },
              ...NO_PROOF,
              detail: "OUTCOME_UNKNOWN",
              actor: TEST_ACTOR,
              reason: "",
              recordedAt: NOW,
            },
          ],
          puts: [
            { table: "accounts", row: account },
            { table: "transactions", row: flagged },
          ],
        },
      });
    });
  }

  it("is a replay while the flag is up", () => {
    const transaction = givenPending({ accountId: account.id, openFlags: ["OUTCOME_UNKNOWN"] });
    const book = givenBook({ accounts: [account], transactions: [transaction] });
    expect(operation.decide(book, flag(ORGANIZATION, transaction.id), NOW)).to.deep.equal(replay(transaction));
  });

  it("refuses a transaction that does not exist, or is another organization's", () => {
    const hers = givenPending({ accountId: account.id, organizationId: STRANGER });
    const book = givenBook({ accounts: [account], transactions: [hers] });
    for (const id of [newTransactionId(), hers.id]) {
      expect(wordOf(operation.decide(book, flag(ORGANIZATION, id), NOW))).to.equal("TRANSACTION_NOT_FOUND");
    }
  });
});
