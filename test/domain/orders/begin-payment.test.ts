import { expect } from "chai";

import type { BookHead } from "../../../src/domain/book.js";
import { toUnixMillis } from "../../../src/domain/values/time.js";
import { decide, effectOf, expectWritten, wordOf } from "../../support/decided.js";
import {
  balancesOf,
  entryOf,
  givenAccount,
  givenBook,
  givenHead,
  givenPayment,
  givenPending,
  givenTransaction,
  NO_PROOF,
  railAccount,
} from "../../support/given.js";
import { EARLIER, NO_DEADLINE, NOW, ORGANIZATION, STRANGER } from "../../support/names.js";
import { beginPayment } from "../../support/operations/transactions.js";

const account = givenAccount({ openPayments: 1 });
const pending = givenPending({ accountId: account.id });
const payment = givenPayment(pending);
const atRail = railAccount(ORGANIZATION, { revision: 2 });
const rows = { accounts: [account], transactions: [pending], payments: [payment], railAccounts: [atRail] };
const command = beginPayment(ORGANIZATION, pending.id, 2);

describe("beginning a payment", () => {
  it("notes that the rail may be asked, before anybody asks it", () => {
    const processing = { ...pending, status: "PROCESSING", updatedAt: NOW };
    const sending = { ...payment, state: "SENDING", begunAt: NOW, sends: 1, dueAt: NO_DEADLINE, updatedAt: NOW };
    expectWritten(decide(rows, command), {
      resource: processing,
      entries: [
        entryOf({
          accountId: account.id,
          transactionId: pending.id,
          kind: "transaction.processing",
          balancesAfter: balancesOf(account),
          ...NO_PROOF,
        }),
      ],
      puts: [
        { table: "accounts", row: account },
        { table: "transactions", row: processing },
        { table: "payments", row: sending },
      ],
    });
  });

  it("adds no row where the rail was asked before and did not hear it, and keeps the first time", () => {
    const processing = givenPending({ ...pending, status: "PROCESSING" });
    const postponed = givenPayment(processing, { begunAt: EARLIER });
    const { entries, puts } = effectOf(decide({ ...rows, transactions: [processing], payments: [postponed] }, command));
    expect(entries).to.deep.equal([]);
    const row = { ...postponed, state: "SENDING", sends: 2, dueAt: NO_DEADLINE, updatedAt: NOW };
    expect(puts).to.deep.equal([{ table: "payments", row }]);
  });

  it("allows to send a payout again that the rail may have, and counts it", () => {
    const transaction = givenPending({ ...pending, type: "REDEEM", status: "PROCESSING" });
    const payment = givenPayment(transaction, { state: "SENDING", begunAt: EARLIER });
    const book = givenBook({ ...rows, transactions: [transaction], payments: [payment] });
    const { entries, puts } = effectOf(decide(book, { ...command, isAgain: true }));
    const row = { ...payment, sends: payment.sends + 1, dueAt: NO_DEADLINE, updatedAt: NOW };
    expect([entries, puts]).to.deep.equal([[], [{ table: "payments", row }]]);
  });

  for (const [type, numberKind, state] of [
    ["MINT", "PHONE", "SENDING"],
    ["REDEEM", "PHONE", "READY"],
    ["REDEEM", "PHONE", "ACCEPTED"],
    ["REDEEM", "PHONE", "ENDED"],
    ["REDEEM", "TILL", "SENDING"],
    ["REDEEM", "PAYBILL", "SENDING"],
  ] as const) {
    it(`never allows to send a ${type} again, ${numberKind}, that is ${state}`, () => {
      const transaction = givenPending({ ...pending, type, status: "PROCESSING" });
      const payment = givenPayment(transaction, { numberKind, state, begunAt: EARLIER });
      const book = givenBook({ ...rows, transactions: [transaction], payments: [payment] });
      expect(wordOf(decide(book, { ...command, isAgain: true }))).to.equal("INVALID_TRANSITION");
    });
  }

  for (const [type, numberKind, turnedAway, minutes, word] of [
    ["MINT", "PHONE", 1, 0, "effect"],
    ["MINT", "PHONE", 1, 60, "effect"],
    ["MINT", "PHONE", 2, 0, "INVALID_TRANSITION"],
    ["REDEEM", "PHONE", 2, 59, "effect"],
    ["REDEEM", "PHONE", 2, 60, "INVALID_TRANSITION"],
    ["REDEEM", "PHONE", 0, 60, "effect"],
    ["REDEEM", "TILL", 0, 0, "effect"],
    ["REDEEM", "TILL", 1, 0, "INVALID_TRANSITION"],
  ] as const) {
    it(`answers ${word} for a ${type}, ${numberKind}, turned away ${String(turnedAway)} times in ${String(minutes)} minutes`, () => {
      const transaction = givenPending({ ...pending, type, status: "PROCESSING" });
      const begunAt = toUnixMillis(NOW - minutes * 60_000);
      const payment = givenPayment(transaction, { numberKind, begunAt, turnedAway });
      expect(wordOf(decide({ ...rows, transactions: [transaction], payments: [payment] }, command))).to.equal(word);
    });
  }

  it("counts that hour by the clock, whatever time the rows get", () => {
    const tomorrow = toUnixMillis(NOW + 86_400_000);
    const transaction = givenPending({ ...pending, type: "REDEEM", status: "PROCESSING" });
    const wordAt = (minutes: number, aheadMillis: number): string => {
      const begun = givenPayment(transaction, { begunAt: tomorrow, aheadMillis, turnedAway: 1 });
      const book = givenBook({ ...rows, transactions: [transaction], payments: [begun] });
      return wordOf(decide(book, command, tomorrow, toUnixMillis(NOW + minutes * 60_000)));
    };
    expect([wordAt(59, 86_400_000), wordAt(60, 86_400_000)]).to.deep.equal(["effect", "INVALID_TRANSITION"]);
    // The server that began it had the wrong clock: nobody knows how long ago that was.
    expect(wordAt(0, 0)).to.equal("INVALID_TRANSITION");
  });

  it("allows nothing for an order of which a report says that shillings moved", () => {
    const transaction = givenPending({ ...pending, openFlags: ["REPORT_WITHOUT_ORDER"] });
    const book = givenBook({ ...rows, transactions: [transaction], payments: [givenPayment(transaction)] });
    expect(wordOf(decide(book, command))).to.equal("INVALID_TRANSITION");
  });

  const restored: Partial<BookHead> = { state: "RESTORED" };
  // The order of rows is the order of checks.
  for (const [what, given, head, word] of [
    ["an unknown transaction", { transactions: [], payments: [] }, restored, "TRANSACTION_NOT_FOUND"],
    [
      "a transaction without a payment",
      { transactions: [givenTransaction(pending)], payments: [] },
      restored,
      "TRANSACTION_NOT_FOUND",
    ],
    [
      "another organization's transaction",
      { transactions: [{ ...pending, organizationId: STRANGER }] },
      restored,
      "TRANSACTION_NOT_FOUND",
    ],
    ...(["SENDING", "ACCEPTED", "ENDED"] as const).map(
      (state) =>
        [
          `a payment that is ${state}: somebody was faster`,
          { payments: [givenPayment(pending, { state })] },
          restored,
          "INVALID_TRANSITION",
        ] as const,
    ),
    [
      "a restored book before it looks at the account",
      { accounts: [{ ...account, status: "FROZEN" as const }] },
      restored,
      "BOOK_RESTORED",
    ],
    [
      "a frozen account before it looks at the account at the rail",
      { accounts: [{ ...account, status: "FROZEN" as const }], railAccounts: [{ ...atRail, revision: 3 }] },
      {},
      "ACCOUNT_FROZEN",
    ],
    [
      "another revision of the account at the rail than the settlement will use",
      { railAccounts: [{ ...atRail, revision: 3 }] },
      {},
      "RAIL_ACCOUNT_CHANGED",
    ],
    ["an account at the rail that is gone", { railAccounts: [] }, {}, "RAIL_ACCOUNT_CHANGED"],
    [
      "an account at the rail of another organization",
      { railAccounts: [{ ...atRail, organizationId: STRANGER }] },
      {},
      "RAIL_ACCOUNT_CHANGED",
    ],
  ] as const) {
    it(`refuses ${what}`, () => {
      expect(wordOf(decide({ ...rows, ...given, books: [givenHead(head)] }, command))).to.equal(word);
    });
  }
});
