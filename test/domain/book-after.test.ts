import { expect } from "chai";

import { BookAfter } from "../../src/domain/book-after.js";
import { givenAccount, givenBook, givenPayment, givenPending, givenTransaction } from "../support/given.js";
import { depositReference, ORGANIZATION } from "../support/names.js";

describe("a book after some parts of a command", () => {
  const account = givenAccount({ depositReference: depositReference(0) });
  const order = givenPending({ accountId: account.id });
  const payment = givenPayment(order);
  const late = givenTransaction({ accountId: account.id, corrects: { kind: "LATE", transactionId: order.id } });
  const book = givenBook({ accounts: [account], transactions: [order, late], payments: [payment] });

  it("has what no part has changed, and a row as the last part has put it", () => {
    const after = new BookAfter(book);
    const read = () => [
      after.bookOf(ORGANIZATION),
      after.account(ORGANIZATION, account.id),
      after.accountWithDepositReference(ORGANIZATION, depositReference(0)),
      after.accountWithDepositReference(ORGANIZATION, depositReference(1)),
      after.transaction(ORGANIZATION, order.id),
      after.payment(ORGANIZATION, order.id),
      after.lateCorrections(ORGANIZATION, order.id),
    ];
    const head = book.bookOf(ORGANIZATION);
    expect(read()).to.deep.equal([head, account, account, undefined, order, payment, [late]]);
    const [frozen, sent, ended] = [
      { ...account, status: "FROZEN" },
      { ...order, status: "PROCESSING" },
      { ...payment, state: "ENDED" },
    ] as const;
    after.take({
      entries: [],
      puts: [
        { table: "accounts", row: frozen },
        { table: "transactions", row: sent },
        { table: "payments", row: ended },
      ],
    });
    expect(read()).to.deep.equal([head, frozen, frozen, undefined, sent, ended, [late]]);
  });
});
