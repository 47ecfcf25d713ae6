import { expect } from "chai";

import type { Payment, RailReference } from "../../../src/domain/payment.js";
import { decide, effectOf, wordOf } from "../../support/decided.js";
import { givenAccount, givenBook, givenPayment, givenPending } from "../../support/given.js";
import { EARLIER, newTransactionId, NO_DEADLINE, NOW, ORGANIZATION } from "../../support/names.js";
import { advancePayment } from "../../support/operations/transactions.js";

const account = givenAccount({ openPayments: 1 });
const processing = givenPending({ accountId: account.id, status: "PROCESSING" });
const begun = { begunAt: EARLIER } as const;
const earlier = "ws_CO_0" as RailReference;

function bookWith(given: Partial<Payment>): ReturnType<typeof givenBook> {
  return givenBook({ accounts: [account], transactions: [processing], payments: [givenPayment(processing, given)] });
}

describe("the rail's answer to a request", () => {
  for (const [what, name, given, changed] of [
    [
      "an accepted request",
      "acceptPayment",
      { state: "SENDING", ...begun },
      { state: "ACCEPTED", railReference: "ws_CO_1" },
    ],
    [
      "an accepted request after one that seemed lost",
      "acceptPayment",
      { state: "READY", ...begun },
      { state: "ACCEPTED", railReference: "ws_CO_1" },
    ],
    ["the rail's name for an order", "acceptPayment", { state: "ACCEPTED", ...begun }, { railReference: "ws_CO_1" }],
    [
      "an accepted request, whose order had a name",
      "acceptPayment",
      { state: "SENDING", ...begun, railReference: earlier },
      { state: "ACCEPTED" },
    ],
    ["a request that the rail did not hear", "postponePayment", { state: "SENDING", ...begun }, { state: "READY" }],
  ] as const) {
    it(`notes ${what}, without a row of the journal`, () => {
      const decision = decide(bookWith(given), advancePayment(name, ORGANIZATION, processing.id));
      const row = { ...givenPayment(processing, given), ...changed, dueAt: NO_DEADLINE, updatedAt: NOW };
      expect(effectOf(decision)).to.deep.equal({ entries: [], puts: [{ table: "payments", row }] });
    });
  }

  for (const [what, name, given] of [
    ["an order that has its name", "acceptPayment", { state: "ACCEPTED", ...begun, railReference: earlier }],
    ["an order that has ended", "acceptPayment", { state: "ENDED", ...begun }],
    ["an order that nobody has begun", "acceptPayment", { state: "READY" }],
    ["an order that the rail has", "postponePayment", { state: "ACCEPTED", ...begun }],
    ["an order that is ready", "postponePayment", { state: "READY", ...begun }],
    ["an earlier request than the one on its way", "postponePayment", { state: "SENDING", ...begun, sends: 2 }],
    ["a request that was never allowed", "postponePayment", { state: "SENDING", ...begun, sends: 0 }],
  ] as const) {
    it(`is a replay for ${what}: ${name}`, () => {
      const decision = decide(bookWith(given), advancePayment(name, ORGANIZATION, processing.id));
      expect(wordOf(decision)).to.equal("replay");
    });
  }

  it("counts a request that the rail turned away", () => {
    const command = advancePayment("postponePayment", ORGANIZATION, processing.id, 1, true);
    const { puts } = effectOf(decide(bookWith({ state: "SENDING", ...begun }), command));
    expect(puts[0]).to.have.nested.property("row.turnedAway", 1);
  });

  it("refuses a transaction that does not exist", () => {
    const decision = decide(bookWith({}), advancePayment("acceptPayment", ORGANIZATION, newTransactionId()));
    expect(wordOf(decision)).to.equal("TRANSACTION_NOT_FOUND");
  });
});
