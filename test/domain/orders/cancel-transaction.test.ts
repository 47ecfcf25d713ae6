import { expect } from "chai";

import { replay } from "../../../src/domain/decision.js";
import type { CancelTransaction } from "../../../src/domain/orders/cancel-transaction.js";
import type { Transaction } from "../../../src/domain/transaction.js";
import { parseStatusReason } from "../../../src/domain/values/text.js";
import { decide, effectOf, expectRefused, expectWritten, putOf } from "../../support/decided.js";
import { entryOf, givenAccount, givenBook, givenPayment, givenPending, NO_PROOF } from "../../support/given.js";
import { NOW, ORGANIZATION, STRANGER, valid } from "../../support/names.js";
import { cancel } from "../../support/operations/transactions.js";

const REASON = valid(parseStatusReason("the customer changed her mind"));
const account = givenAccount({ openPayments: 2 });

const cancelOf = ({ id }: Transaction): CancelTransaction => ({ ...cancel(ORGANIZATION, id), reason: REASON });

function pending(given: Partial<Transaction>): Transaction {
  return givenPending({ accountId: account.id, amountCents: account.heldCents, ...given });
}

describe("canceling a transaction", () => {
  // Before: 100.00 available, 20.00 held.
  for (const [what, type, posting, availableCents, heldCents] of [
    ["gives the KESC that a redemption held back", "REDEEM", { debit: "held", credit: "available" }, 12_000, 0],
    ["moves nothing for a mint", "MINT", undefined, 10_000, 2_000],
  ] as const) {
    it(what, () => {
      const transaction = pending({ type });
      const payment = givenPayment(transaction);
      const book = givenBook({ accounts: [account], transactions: [transaction], payments: [payment] });
      const canceled = { ...transaction, status: "CANCELED", statusReason: REASON, updatedAt: NOW };
      expectWritten(decide(book, cancelOf(transaction)), {
        resource: canceled,
        entries: [
          entryOf({
            accountId: account.id,
            transactionId: transaction.id,
            kind: "transaction.canceled",
            posting: posting && { ...posting, amountCents: 2_000 },
            balancesAfter: { availableCents, heldCents },
            ...NO_PROOF,
            reason: REASON,
          }),
        ],
        puts: [
          {
            table: "accounts",
            row: {
              ...account,
              availableCents,
              heldCents,
              openPayments: 1,
              updatedAt: posting === undefined ? account.updatedAt : NOW,
            },
          },
          { table: "transactions", row: canceled },
          { table: "payments", row: { ...payment, state: "ENDED", number: undefined, updatedAt: NOW } },
        ],
      });
    });
  }

  it("gives it back to a frozen account too", () => {
    const transaction = pending({ type: "REDEEM" });
    const frozen = givenAccount({ id: account.id, status: "FROZEN" });
    const payments = [givenPayment(transaction)];
    const book = givenBook({ accounts: [frozen], transactions: [transaction], payments });
    const effect = effectOf(decide(book, cancelOf(transaction)));
    expect(putOf(effect, "accounts")).to.include({ status: "FROZEN", availableCents: 12_000, heldCents: 0 });
  });

  it("answers a canceled one as it is, with the reason that it had", () => {
    const transaction = pending({ status: "CANCELED" });
    const book = givenBook({ accounts: [account], transactions: [transaction] });
    expect(decide(book, cancelOf(transaction))).to.deep.equal(replay(transaction));
  });

  // The order of rows is the order of checks.
  it("refuses another organization's transaction, whatever its status", () => {
    const transaction = pending({ status: "COMPLETED", organizationId: STRANGER });
    expectRefused(decide({ accounts: [account], transactions: [transaction] }, cancelOf(transaction)), {
      reason: "TRANSACTION_NOT_FOUND",
      transactionId: transaction.id,
    });
  });

  it("refuses a transaction that does not exist", () => {
    const transaction = pending({});
    expectRefused(decide({}, cancelOf(transaction)), {
      reason: "TRANSACTION_NOT_FOUND",
      transactionId: transaction.id,
    });
  });

  for (const status of ["PROCESSING", "COMPLETED", "FAILED"] as const) {
    it(`refuses one that is ${status}`, () => {
      const transaction = pending({ status });
      expectRefused(decide({ accounts: [account], transactions: [transaction] }, cancelOf(transaction)), {
        reason: "INVALID_TRANSITION",
        from: status,
        to: "CANCELED",
      });
    });
  }

  it("throws where the book has the transaction and not its account: that is a bug", () => {
    const transaction = pending({});
    const book = givenBook({ transactions: [transaction], payments: [givenPayment(transaction)] });
    expect(() => decide(book, cancelOf(transaction))).to.throw(
      `${transaction.id} refers to ${transaction.accountId}, which was not loaded`,
    );
  });

  it("throws where the transaction is PENDING and has no payment: that is a bug", () => {
    const transaction = pending({});
    const book = givenBook({ accounts: [account], transactions: [transaction] });
    expect(() => decide(book, cancelOf(transaction))).to.throw("has no payment");
  });
});
