import { expect } from "chai";

import type { LedgerAccount } from "../../../src/domain/account.js";
import { type BookSums, MAX_SUM_CENTS } from "../../../src/domain/book.js";
import { replay } from "../../../src/domain/decision.js";
import type { Payment } from "../../../src/domain/payment.js";
import type { Transaction } from "../../../src/domain/transaction.js";
import { MAX_CENTS, NO_CENTS, toCents } from "../../../src/domain/values/cents.js";
import type { MaskedPhone } from "../../../src/domain/values/masked-phone.js";
import type { Reference } from "../../../src/domain/values/text.js";
import { decide, effectOf, expectWritten, putOf, wordOf } from "../../support/decided.js";
import {
  entryOf,
  givenAccount,
  givenBook,
  givenHead,
  givenPayment,
  givenPending,
  givenTransaction,
  NO_PROOF,
} from "../../support/given.js";
import {
  EARLIER,
  movementNamed,
  newTransactionId,
  NOW,
  ORGANIZATION,
  receiptNamed,
  STRANGER,
} from "../../support/names.js";
import { completePayment } from "../../support/operations/transactions.js";

// Before: 100.00 available, 20.00 held. An order is for 20.00.
const account = givenAccount({ openPayments: 1 });
const AMOUNT = account.heldCents;
const [M1, M2] = [movementNamed("m1"), movementNamed("m2")];
const [R1, R2] = [receiptNamed("r1"), receiptNamed("r2")];
const FULL: Partial<LedgerAccount> = { availableCents: toCents(MAX_CENTS - AMOUNT), heldCents: toCents(AMOUNT) };
const CLOSED: Partial<LedgerAccount> = {
  status: "CLOSED",
  availableCents: NO_CENTS,
  heldCents: NO_CENTS,
  openPayments: 0,
};

type Report = Parameters<typeof completePayment>[2];

interface Given extends Partial<Transaction> {
  readonly ofAccount?: Partial<LedgerAccount>;
  readonly numberKind?: Payment["numberKind"];
  readonly corrections?: readonly Partial<Transaction>[];
  readonly others?: readonly Transaction[];
  readonly sums?: Partial<BookSums>;
}

/** An order in a book, with its corrections, and other transactions of the same book. */
function orderOf({ ofAccount, numberKind = "PHONE", corrections = [], others = [], sums, ...given }: Given) {
  const own = { ...account, ...ofAccount };
  const transaction = givenPending({ accountId: account.id, amountCents: AMOUNT, status: "PROCESSING", ...given });
  const isOpen = transaction.status === "PENDING" || transaction.status === "PROCESSING";
  const state = isOpen ? ({ state: "SENDING", begunAt: EARLIER } as const) : ({ state: "ENDED" } as const);
  const payment = givenPayment(transaction, { numberKind, ...state });
  const late = corrections.map((each, index) =>
    givenTransaction({
      accountId: account.id,
      amountCents: AMOUNT,
      type: transaction.type,
      rail: transaction.rail,
      reference: `kesc:late:${String(index)}` as Reference,
      corrects: { kind: "LATE", transactionId: transaction.id },
      ...each,
    }),
  );
  const head = givenHead(sums === undefined ? {} : { sums: { ...givenHead().sums, ...sums } });
  const book = givenBook({
    books: [head],
    accounts: [own],
    transactions: [transaction, ...late, ...others],
    payments: [payment],
  });
  return { transaction, payment, late, book, own };
}

function reportOn({ book, transaction }: Pick<ReturnType<typeof orderOf>, "book" | "transaction">, report: Report) {
  return decide(book, completePayment(ORGANIZATION, transaction.id, report));
}

/** The flag that a decision raises. */
function flagOf(decision: ReturnType<typeof reportOn>): string | undefined {
  const [entry, ...more] = effectOf(decision).entries;
  expect(more).to.deep.equal([]);
  expect(entry).to.include({ kind: "transaction.flagged", posting: undefined });
  return entry?.detail;
}

describe("a report that shillings moved", () => {
  describe("for a PROCESSING transaction", () => {
    for (const [what, type, posting, balances] of [
      ["credits a mint", "MINT", ["reserve", "available"], { availableCents: 12_000, heldCents: 2_000 }],
      ["burns what a redemption held", "REDEEM", ["held", "reserve"], { availableCents: 10_000, heldCents: 0 }],
    ] as const) {
      it(`${what}, and clears its flags`, () => {
        const order = orderOf({ type, openFlags: ["OUTCOME_UNKNOWN"] });
        const completed = {
          ...order.transaction,
          status: "COMPLETED",
          railMovement: M1,
          railReceipt: R1,
          openFlags: [],
          availableAfterCents: balances.availableCents,
          updatedAt: NOW,
          completedAt: NOW,
        };
        const [debit, credit] = posting;
        expectWritten(reportOn(order, { movement: M1, receipt: R1, amountCents: AMOUNT }), {
          resource: completed,
          entries: [
            entryOf({
              accountId: account.id,
              transactionId: order.transaction.id,
              kind: "transaction.completed",
              posting: { debit, credit, amountCents: AMOUNT },
              balancesAfter: balances,
              ...NO_PROOF,
              receipt: R1,
            }),
          ],
          puts: [
            { table: "accounts", row: { ...account, ...balances, openPayments: 0, updatedAt: NOW } },
            { table: "transactions", row: completed },
            { table: "payments", row: { ...order.payment, state: "ENDED", number: undefined, updatedAt: NOW } },
          ],
        });
      });
    }

    it("credits a frozen account too: the shillings are here", () => {
      const order = orderOf({ ofAccount: { status: "FROZEN" } });
      const effect = effectOf(reportOn(order, { movement: M1 }));
      expect(putOf(effect, "accounts")).to.include({ availableCents: 12_000, status: "FROZEN" });
    });

    for (const [what, report] of [
      ["says no amount and no phone", { movement: M1 }],
      ["has the phone as it was ordered, masked", { movement: M1, phone: "254******678" as MaskedPhone }],
      ["names a receipt alone", { receipt: R1 }],
    ] as const) {
      it(`completes it where the report ${what}`, () => {
        expect(effectOf(reportOn(orderOf({}), report)).entries[0]?.kind).to.equal("transaction.completed");
      });
    }

    for (const [what, report] of [
      ["another amount", { movement: M1, amountCents: toCents(AMOUNT + 1) }],
      ["another phone", { movement: M1, phone: "254******222" as MaskedPhone }],
    ] as const) {
      it(`books nothing and flags it where the report has ${what}`, () => {
        expect(flagOf(reportOn(orderOf({}), report))).to.equal("REPORT_DIFFERS");
      });
    }

    it("is flagged where the report has a phone and a till was to be paid", () => {
      const order = orderOf({ type: "REDEEM", numberKind: "TILL" });
      const report = { movement: M1, phone: "254******678" as MaskedPhone };
      expect(flagOf(reportOn(order, report))).to.equal("REPORT_DIFFERS");
    });

    for (const type of ["MINT", "REDEEM"] as const) {
      it(`waits where a message says that the movement of a ${type} failed, and the report leaves something out`, () => {
        const order = orderOf({ type });
        const command = { ...completePayment(ORGANIZATION, order.transaction.id, { movement: M1 }), isDenied: true };
        const { entries } = effectOf(decide(order.book, command));
        expect(entries.map(({ kind, detail }) => [kind, detail])).to.deep.equal([
          ["transaction.flagged", "REPORT_DIFFERS"],
        ]);
        const flagged = orderOf({ type, openFlags: ["REPORT_DIFFERS"] });
        const again = { ...completePayment(ORGANIZATION, flagged.transaction.id, { movement: M1 }), isDenied: true };
        expect(decide(flagged.book, again)).to.deep.equal(replay(flagged.transaction));
      });
    }

    it("is flagged in the same commit where a message says that the movement failed", () => {
      const { transaction, book } = orderOf({ type: "REDEEM" });
      const whole = { movement: M1, receipt: R1, amountCents: AMOUNT, phone: "254******678" as MaskedPhone };
      const command = { ...completePayment(ORGANIZATION, transaction.id, whole), isDenied: true };
      const { entries } = effectOf(decide(book, command));
      expect(entries.map(({ kind, detail }) => [kind, detail])).to.deep.equal([
        ["transaction.completed", undefined],
        ["transaction.flagged", "FAILED_AFTER_COMPLETION"],
      ]);
    });

    describe("that contradicted an earlier report", () => {
      const whole = { movement: M1, receipt: R1, amountCents: AMOUNT, phone: "254******678" as MaskedPhone };
      for (const flag of ["REPORT_DIFFERS", "RECEIPT_ALREADY_USED"] as const) {
        for (const left of ["receipt", "amountCents", "phone"] as const) {
          it(`books nothing by a report without ${left} while ${flag} is up: it says less`, () => {
            const order = orderOf({ openFlags: [flag] });
            expect(reportOn(order, { ...whole, [left]: undefined })).to.deep.equal(replay(order.transaction));
          });
        }

        it(`is completed by a report that leaves nothing out while ${flag} is up`, () => {
          const { entries, puts } = effectOf(reportOn(orderOf({ openFlags: [flag] }), whole));
          expect(entries[0]?.kind).to.equal("transaction.completed");
          expect(putOf({ entries, puts }, "transactions")).to.deep.include({ openFlags: [] });
        });
      }
    });

    for (const [what, given] of [
      ["the account is at its limit", { ofAccount: FULL }],
      ["the account is closed", { ofAccount: CLOSED }],
      ["all accounts together are at their limit", { sums: { shortfall: MAX_SUM_CENTS, available: MAX_SUM_CENTS } }],
    ] as const) {
      it(`books a mint for nobody where ${what}, and flags it`, () => {
        const order = orderOf(given);
        const decision = reportOn(order, { movement: M1, receipt: R1 });
        const { entries, puts } = effectOf(decision);
        expect(entries.map(({ kind, posting, detail, receipt }) => ({ kind, posting, detail, receipt }))).to.deep.equal(
          [
            {
              kind: "transaction.completed",
              posting: { debit: "reserve", credit: "unallocated", amountCents: AMOUNT },
              detail: undefined,
              receipt: R1,
            },
            { kind: "transaction.flagged", posting: undefined, detail: "NOT_CREDITED", receipt: undefined },
          ],
        );
        const { availableCents, heldCents } = order.own;
        expect(puts.map(({ table }) => table)).to.deep.equal(["accounts", "transactions", "payments"]);
        expect(putOf({ entries, puts }, "accounts")).to.include({ availableCents, heldCents });
        expect(putOf({ entries, puts }, "transactions")).to.deep.include({
          status: "COMPLETED",
          openFlags: ["NOT_CREDITED"],
          availableAfterCents: availableCents,
        });
      });
    }

    it("only flags a mint that not even the book can take", () => {
      const sums = { reserve: MAX_SUM_CENTS, unallocated: MAX_SUM_CENTS };
      expect(flagOf(reportOn(orderOf({ sums }), { movement: M1 }))).to.equal("NOT_CREDITED");
    });
  });

  for (const status of ["PENDING", "CANCELED"] as const) {
    it(`for a ${status} transaction is flagged: the rail was never asked`, () => {
      const order = orderOf({ status });
      expect(flagOf(reportOn(order, { movement: M1, receipt: R1 }))).to.equal("REPORT_WITHOUT_ORDER");
      const again = orderOf({ status, openFlags: ["REPORT_WITHOUT_ORDER"] });
      expect(wordOf(reportOn(again, { movement: M1, receipt: R1 }))).to.equal("replay");
    });
  }

  for (const status of ["COMPLETED", "FAILED"] as const) {
    describe(`for a ${status} transaction is a movement of its own`, () => {
      for (const [what, given, posting, balances, flags] of [
        ["a mint is credited", { type: "MINT" }, ["reserve", "available"], { availableCents: 12_000 }, []],
        [
          "a mint to a closed account belongs to nobody",
          { type: "MINT", ofAccount: CLOSED },
          ["reserve", "unallocated"],
          { availableCents: 0, heldCents: 0 },
          ["NOT_CREDITED"],
        ],
        [
          "a redemption takes what is available, also of a frozen account",
          { type: "REDEEM", ofAccount: { status: "FROZEN" } },
          ["available", "reserve"],
          { availableCents: 8_000 },
          [],
        ],
        [
          "a redemption of more than is available is a shortfall, as a whole",
          { type: "REDEEM", ofAccount: { availableCents: toCents(AMOUNT - 1) } },
          ["shortfall", "reserve"],
          { availableCents: AMOUNT - 1 },
          [],
        ],
      ] as const) {
        it(what, () => {
          const order = orderOf({ status, ...given });
          const command = completePayment(ORGANIZATION, order.transaction.id, { movement: M1, receipt: R1 });
          const decision = decide(order.book, command);
          const effect = effectOf(decision);
          const [debit, credit] = posting;
          expect(effect.entries[0]).to.deep.include({
            transactionId: command.newTransactionId,
            kind: "transaction.completed",
            posting: { debit, credit, amountCents: AMOUNT },
            detail: "LATE",
            receipt: R1,
          });
          expect(effect.entries.length).to.equal(flags.length + 1);
          const availableAfterCents = balances.availableCents;
          const late = {
            ...givenTransaction({ accountId: account.id }),
            id: command.newTransactionId,
            type: given.type,
            amountCents: AMOUNT,
            reference: "kesc:late:movement:m1",
            rail: order.transaction.rail,
            railMovement: M1,
            railReceipt: R1,
            openFlags: flags,
            corrects: { kind: "LATE", transactionId: order.transaction.id },
            availableAfterCents,
            createdAt: NOW,
            updatedAt: NOW,
            completedAt: NOW,
          };
          expect(decision).to.have.property("resource").that.deep.equals(late);
          // The original and its payment stay as they are.
          expect(effect.puts).to.deep.equal([
            { table: "accounts", row: { ...order.own, ...balances, updatedAt: NOW } },
            { table: "transactions", row: late },
          ]);
        });
      }

      it("takes the amount that moved, and the receipt as its name where there is no other", () => {
        const order = orderOf({ status });
        const effect = effectOf(reportOn(order, { receipt: R1, amountCents: toCents(700) }));
        expect(putOf(effect, "transactions")).to.include({ amountCents: 700, reference: "kesc:late:receipt:r1" });
      });

      it("is only flagged where not even the book can take it", () => {
        const sums = { reserve: MAX_SUM_CENTS, unallocated: MAX_SUM_CENTS };
        expect(flagOf(reportOn(orderOf({ status, sums }), { movement: M1 }))).to.equal("NOT_CREDITED");
      });
    });
  }

  describe("about a movement that is known", () => {
    const done = { status: "COMPLETED", railMovement: M1, railReceipt: R1 } as const;

    for (const [what, given, report] of [
      ["the same report again", done, { movement: M1, receipt: R1, amountCents: AMOUNT }],
      ["the receipt alone", done, { receipt: R1 }],
      ["the receipt with another movement", done, { movement: M2, receipt: R1 }],
      ["the movement alone", done, { movement: M1 }],
      ["a movement, where the order is known by its receipt", { ...done, railMovement: undefined }, { movement: M2 }],
    ] as const) {
      it(`is a replay: ${what}`, () => {
        const order = orderOf(given);
        expect(reportOn(order, report)).to.deep.equal(replay(order.transaction));
      });
    }

    for (const [what, report] of [
      ["with the movement", { movement: M1, receipt: R1 }],
      ["without the movement", { receipt: R1 }],
    ] as const) {
      it(`adds the receipt that the book lacks: ${what}`, () => {
        const order = orderOf({ ...done, railReceipt: undefined });
        const effect = effectOf(reportOn(order, report));
        expect(effect.entries).to.have.length(1);
        expect(effect.entries[0]).to.include({ kind: "transaction.receipted", receipt: R1, posting: undefined });
        const receipted = { ...order.transaction, railReceipt: R1, updatedAt: NOW };
        expect(putOf(effect, "transactions")).to.deep.equal(receipted);
      });
    }

    it("adds the receipt to the correction whose movement it names", () => {
      const order = orderOf({ ...done, corrections: [{ railMovement: M2 }] });
      const effect = effectOf(reportOn(order, { movement: M2, receipt: R2 }));
      expect(putOf(effect, "transactions")).to.deep.include({ id: order.late[0]?.id, railReceipt: R2 });
    });

    it("adds a receipt without a movement to the one that has its amount", () => {
      const order = orderOf({
        ...done,
        railReceipt: undefined,
        corrections: [{ railMovement: M2, amountCents: toCents(700) }],
      });
      const effect = effectOf(reportOn(order, { receipt: R2, amountCents: toCents(700) }));
      expect(putOf(effect, "transactions")).to.deep.include({ id: order.late[0]?.id, railReceipt: R2 });
    });

    for (const [what, given, report] of [
      ["another amount", done, { movement: M1, amountCents: toCents(1) }],
      ["another receipt", done, { movement: M1, receipt: R2 }],
      ["the receipt, and another amount", done, { receipt: R1, amountCents: toCents(1) }],
      ["a receipt of another amount", { ...done, railReceipt: undefined }, { receipt: R2, amountCents: toCents(1) }],
    ] as const) {
      it(`flags ${what}`, () => {
        expect(flagOf(reportOn(orderOf(given), report))).to.equal("REPORT_DIFFERS");
      });
    }

    for (const [what, report] of [
      ["a receipt", { movement: M2, receipt: R1 }],
      ["a movement", { movement: M1 }],
    ] as const) {
      it(`flags ${what} of another transaction, and books nothing`, () => {
        const others = [givenTransaction({ accountId: account.id, railMovement: M1, railReceipt: R1 })];
        expect(flagOf(reportOn(orderOf({ others }), report))).to.equal("RECEIPT_ALREADY_USED");
      });
    }

    for (const [what, given, report] of [
      ["an open order", {}, { movement: M2, receipt: R1, amountCents: AMOUNT }],
      ["an order that failed", { status: "FAILED", failure: "EXPIRED" }, { receipt: R1, amountCents: AMOUNT }],
      ["an order that a query has completed", { ...done, railReceipt: undefined }, { movement: M1, receipt: R1 }],
    ] as const) {
      it(`flags ${what} if the book has the number of the receipt from another source, and books nothing`, () => {
        const others = [givenTransaction({ accountId: account.id, railReceipt: receiptNamed(`kcb:${R1}`) })];
        expect(flagOf(reportOn(orderOf({ ...given, others }), report))).to.equal("RECEIPT_ALREADY_USED");
      });
    }
  });

  it("refuses a transaction that is not there, was given to no rail, or is another organization's", () => {
    const { book, transaction } = orderOf({});
    const direct = givenTransaction({ accountId: account.id });
    for (const [given, id] of [
      [book, newTransactionId()],
      [givenBook({ accounts: [account], transactions: [direct] }), direct.id],
    ] as const) {
      expect(wordOf(decide(given, completePayment(ORGANIZATION, id, { movement: M1 })))).to.equal(
        "TRANSACTION_NOT_FOUND",
      );
    }
    const stranger = completePayment(STRANGER, transaction.id, { movement: M1 });
    expect(wordOf(decide(book, stranger))).to.equal("TRANSACTION_NOT_FOUND");
  });
});
