import { expect } from "chai";

import { type Command, decide } from "../../../src/domain/operations.js";
import type { RailReceipt } from "../../../src/domain/payment.js";
import { toCents } from "../../../src/domain/values/cents.js";
import { givenAccount, givenBook, givenPayment, givenPending } from "../../support/given.js";
import { EARLIER, NOW, ORGANIZATION, receiptNamed } from "../../support/names.js";
import { receiveDeposit } from "../../support/operations/deposits.js";
import { completePayment, failPayment } from "../../support/operations/transactions.js";
import { byStage } from "../../support/stage.js";

// A payer is asked for an order, and pays a second time by hand with the reference of the order.
// The rail reports both payments in every order, with repeats, and at last its list has both.

const [R1, R2] = [receiptNamed("r1"), receiptNamed("r2")];
const CENTS = 500;
/** More reports than there are kinds: so each can come again after any other. */
const REPORTS = byStage({ test: 5, check: 6 });

const account = givenAccount({ openPayments: 1 });
const order = givenPending({ accountId: account.id, amountCents: toCents(CENTS), status: "PROCESSING" });
const payment = givenPayment(order, { state: "SENDING", begunAt: EARLIER });

type Confirm = (receipt: RailReceipt) => readonly RailReceipt[];

function reportsOf(secondCents: number, confirm: Confirm) {
  const listed = (receipt: RailReceipt, cents: number) => (): Command =>
    receiveDeposit(ORGANIZATION, {
      receipt,
      typed: "the order",
      orderId: order.id,
      amountCents: toCents(cents),
      confirmedReceipts: confirm(receipt),
    });
  const amountCents = toCents(CENTS);
  return {
    callback: (): Command => completePayment(ORGANIZATION, order.id, { movement: "m1", receipt: R1, amountCents }),
    query: (): Command => completePayment(ORGANIZATION, order.id, { movement: "m1" }),
    first: listed(R1, CENTS),
    second: listed(R2, secondCents),
  };
}

/** Returns how often the journal has each receipt, and the sums of the book. */
function booked(commands: readonly Command[]) {
  const book = givenBook({ accounts: [account], transactions: [order], payments: [payment] });
  const receipts: (string | undefined)[] = [];
  for (const command of commands) {
    const decision = decide(book, command, NOW);
    if (decision.kind !== "effect") continue;
    receipts.push(...decision.effect.entries.map(({ receipt }) => receipt));
    book.apply(decision.effect);
  }
  const { sums } = book.bookOf(ORGANIZATION);
  return { receipts: receipts.filter((receipt) => receipt !== undefined).sort(), sums };
}

/** Every sequence of this length. */
function* sequences<Each>(of: readonly Each[], length: number): Generator<readonly Each[]> {
  if (length === 0) {
    yield [];
    return;
  }
  for (const rest of sequences(of, length - 1)) for (const each of of) yield [...rest, each];
}

describe("the reports of two payments for one order", () => {
  for (const [what, begin] of [
    ["that the rail is asked about", []],
    ["that the rail has called failed", [failPayment(ORGANIZATION, order.id)]],
  ] as const) {
    for (const [amount, secondCents] of [
      ["the same amount", CENTS],
      ["another amount", 700],
    ] as const) {
      for (const [list, confirm] of [
        ["both receipts", () => [R1, R2]],
        ["the one receipt alone", (receipt: RailReceipt) => [receipt]],
      ] as const) {
        it(`book each once: an order ${what}, ${amount}, and a list that has ${list}`, () => {
          const { first, second, ...others } = reportsOf(secondCents, confirm);
          const makers = [first, second, others.callback, others.query];
          for (const reports of sequences(makers, REPORTS)) {
            const commands = [...reports, first, second].map((make) => make());
            const { receipts, sums } = booked([...begin, ...commands]);
            const told = (): string => [...reports, first, second].map((make) => makers.indexOf(make)).join("");
            expect(receipts, told()).to.deep.equal([R1, R2]);
            expect(sums.reserve, told()).to.equal(CENTS + secondCents);
            expect(sums.available + sums.unallocated, told()).to.equal(CENTS + secondCents);
          }
        });
      }
    }
  }
});
