import { expect } from "chai";

import type { BookHead } from "../../../src/domain/book.js";
import type { Transaction } from "../../../src/domain/transaction.js";
import { decide, effectOf, expectRefused, expectWritten, wordOf } from "../../support/decided.js";
import {
  entryOf,
  givenAccount,
  givenBook,
  givenHead,
  givenPayment,
  givenPending,
  NO_PROOF,
} from "../../support/given.js";
import { EARLIER, newTransactionId, NOW, ORGANIZATION } from "../../support/names.js";
import { failPayment } from "../../support/operations/transactions.js";

const account = givenAccount({ openPayments: 1 });

function orderOf(
  given: Partial<Transaction>,
  state: "READY" | "SENDING" | "ACCEPTED" | "ENDED" = "SENDING",
  head: Partial<BookHead> = {},
) {
  const transaction = givenPending({ accountId: account.id, amountCents: account.heldCents, ...given });
  const begunAt = transaction.status === "PENDING" ? undefined : EARLIER;
  const payment = givenPayment(transaction, { state, begunAt });
  const books = [givenHead(head)];
  const book = givenBook({ accounts: [account], transactions: [transaction], payments: [payment], books });
  return { transaction, payment, book };
}

describe("failing a payment", () => {
  // Before: 100.00 available, 20.00 held.
  for (const [what, given, posting, balances] of [
    [
      "releases the hold of a redemption",
      { type: "REDEEM", status: "PROCESSING" },
      { debit: "held", credit: "available", amountCents: 2_000 },
      { availableCents: 12_000, heldCents: 0 },
    ],
    ["moves nothing for a mint", { type: "MINT", status: "PROCESSING" }, undefined, {}],
    ["ends a mint that nobody has begun", { type: "MINT", status: "PENDING" }, undefined, {}],
  ] as const) {
    it(`${what}, and clears the flags`, () => {
      const { transaction, payment, book } = orderOf({ ...given, openFlags: ["OUTCOME_UNKNOWN"] });
      const failed = { ...transaction, status: "FAILED", failure: "WRONG_PIN", openFlags: [], updatedAt: NOW };
      const after = { ...account, ...balances, openPayments: 0, updatedAt: posting === undefined ? EARLIER : NOW };
      const { availableCents, heldCents } = after;
      expectWritten(decide(book, failPayment(ORGANIZATION, transaction.id)), {
        resource: failed,
        entries: [
          entryOf({
            accountId: account.id,
            transactionId: transaction.id,
            kind: "transaction.failed",
            posting,
            balancesAfter: { availableCents, heldCents },
            ...NO_PROOF,
            detail: "WRONG_PIN",
          }),
        ],
        puts: [
          { table: "accounts", row: after },
          { table: "transactions", row: failed },
          { table: "payments", row: { ...payment, state: "ENDED", number: undefined, updatedAt: NOW } },
        ],
      });
    });
  }

  it("ends an order that the rail is proven not to have once time is over", () => {
    const { transaction, book } = orderOf({ status: "PROCESSING" }, "READY");
    const decision = decide(book, failPayment(ORGANIZATION, transaction.id, "EXPIRED"));
    expect(effectOf(decision).entries[0]?.detail).to.equal("EXPIRED");
  });

  it("flags a mint that expired although the rail, which turned it away, may have taken it", () => {
    const { transaction, payment } = orderOf({ status: "PROCESSING" }, "READY");
    const payments = [{ ...payment, turnedAway: 1 }];
    const book = givenBook({ accounts: [account], transactions: [transaction], payments, books: [givenHead()] });
    const decision = decide(book, failPayment(ORGANIZATION, transaction.id, "EXPIRED"));
    const kinds = effectOf(decision).entries.map(({ kind, detail }) => [kind, detail]);
    expect(kinds).to.deep.equal([
      ["transaction.failed", "EXPIRED"],
      ["transaction.flagged", "OUTCOME_UNKNOWN"],
    ]);
    expect(decision).to.have.nested.property("resource.openFlags").that.deep.equals(["OUTCOME_UNKNOWN"]);
  });

  it("does not let time end an order in a restored book, which may be older than what the rail was asked", () => {
    const { transaction, book } = orderOf({ status: "PROCESSING" }, "READY", { state: "RESTORED" });
    const decision = decide(book, failPayment(ORGANIZATION, transaction.id, "EXPIRED"));
    expect(wordOf(decision)).to.equal("BOOK_RESTORED");
  });

  for (const state of ["SENDING", "ACCEPTED"] as const) {
    it(`refuses to let time end an order that the rail may have: ${state}`, () => {
      const { transaction, book } = orderOf({ status: "PROCESSING" }, state);
      const decision = decide(book, failPayment(ORGANIZATION, transaction.id, "EXPIRED"));
      expectRefused(decision, { reason: "INVALID_TRANSITION", from: "PROCESSING", to: "FAILED" });
    });
  }

  for (const status of ["FAILED", "CANCELED"] as const) {
    it(`is a replay for a ${status} transaction, also when time is over`, () => {
      const { transaction, book } = orderOf({ status }, "ENDED");
      for (const failure of ["WRONG_PIN", "EXPIRED"] as const) {
        const decision = decide(book, failPayment(ORGANIZATION, transaction.id, failure));
        expect(wordOf(decision)).to.equal("replay");
      }
    });
  }

  it("flags a completed transaction, once, and lets time change nothing", () => {
    const { transaction, book } = orderOf({ status: "COMPLETED" }, "ENDED");
    const command = failPayment(ORGANIZATION, transaction.id);
    const { entries } = effectOf(decide(book, command));
    expect(entries[0]).to.include({
      kind: "transaction.flagged",
      detail: "FAILED_AFTER_COMPLETION",
      posting: undefined,
    });
    const flagged = orderOf({ ...transaction, openFlags: ["FAILED_AFTER_COMPLETION"] }, "ENDED");
    expect(wordOf(decide(flagged.book, command))).to.equal("replay");
    const expired = failPayment(ORGANIZATION, transaction.id, "EXPIRED");
    expect(wordOf(decide(book, expired))).to.equal("INVALID_TRANSITION");
  });

  for (const flag of ["REPORT_WITHOUT_ORDER", "RECEIPT_ALREADY_USED", "NOT_CREDITED"] as const) {
    it(`ends nothing while ${flag} says that shillings moved, and flags that the reports differ`, () => {
      const order = orderOf({ type: "REDEEM", status: "PROCESSING", openFlags: [flag] });
      const { entries, puts } = effectOf(decide(order.book, failPayment(ORGANIZATION, order.transaction.id)));
      expect(entries.map(({ kind, detail, posting }) => [kind, detail, posting])).to.deep.equal([
        ["transaction.flagged", "REPORT_DIFFERS", undefined],
      ]);
      expect(puts.map(({ table }) => table)).to.deep.equal(["accounts", "transactions"]);
    });
  }

  it("believes a rejected request only while no later one was allowed", () => {
    const { transaction, book, payment } = orderOf({ status: "PROCESSING" });
    const rejected = failPayment(ORGANIZATION, transaction.id);
    expect(wordOf(decide(book, { ...rejected, sends: payment.sends }))).to.equal("effect");
    expect(wordOf(decide(book, { ...rejected, sends: payment.sends - 1 }))).to.equal("replay");
  });

  it("refuses a transaction that does not exist", () => {
    const decision = decide(orderOf({}).book, failPayment(ORGANIZATION, newTransactionId()));
    expect(wordOf(decision)).to.equal("TRANSACTION_NOT_FOUND");
  });
});
