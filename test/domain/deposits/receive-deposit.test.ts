import { expect } from "chai";

import type { LedgerAccount } from "../../../src/domain/account.js";
import { type BookHead, MAX_SUM_CENTS } from "../../../src/domain/book.js";
import { replay } from "../../../src/domain/decision.js";
import { receiveDeposit as operation } from "../../../src/domain/deposits/receive-deposit.js";
import type { LimitsInForce } from "../../../src/domain/limits/usage.js";
import type { RailAccountId, RailReceipt } from "../../../src/domain/payment.js";
import type { Transaction } from "../../../src/domain/transaction.js";
import { MAX_CENTS, NO_CENTS, toCents } from "../../../src/domain/values/cents.js";
import type { MaskedPhone } from "../../../src/domain/values/masked-phone.js";
import type { IdempotencyKey, Reference } from "../../../src/domain/values/text.js";
import { decide, effectOf, expectWritten, putOf, wordOf } from "../../support/decided.js";
import {
  givenAccount,
  givenBook,
  givenDeposit,
  givenHead,
  givenPayment,
  givenPending,
  givenTransaction,
} from "../../support/given.js";
import {
  depositReference,
  EARLIER,
  movementNamed,
  newTransactionId,
  NOW,
  ORGANIZATION,
  RAIL_TERMS,
  receiptNamed,
  SLOW_RAIL,
  STRANGER,
  TEST_ACTOR,
} from "../../support/names.js";
import { receiveDeposit } from "../../support/operations/deposits.js";

const NUMBER = depositReference(0);
const EMPTY = { availableCents: NO_CENTS, heldCents: NO_CENTS };
const LIMITS: LimitsInForce = {
  since: EARLIER,
  organization: { MINT: {}, REDEEM: {} },
  tiers: new Map(),
  usage: undefined,
};
const [R1, R2] = [receiptNamed("r1"), receiptNamed("r2")];

/** The book of one account, with the number that payers type. */
function bookOf(account: Partial<LedgerAccount> = {}, head: Partial<BookHead> = {}) {
  const own = givenAccount({ depositReference: NUMBER, ...account });
  return { own, book: givenBook({ accounts: [own], books: [givenHead(head)] }) };
}

describe("receiving a deposit", () => {
  it("books shillings of an account's reference, and credits them in the same commit", () => {
    const { own, book } = bookOf();
    const command = receiveDeposit(ORGANIZATION, { typed: " 2000 000-6", phone: "254******678" as MaskedPhone });
    const decision = decide(book, command);
    const { newDepositId: id, newTransactionId: transactionId } = command;
    const deposit = {
      ...givenDeposit({ id, createdAt: NOW, updatedAt: NOW }),
      status: "CREDITED",
      reason: undefined,
      accountId: own.id,
      transactionId,
      credits: 1,
      typedReference: " 2000 000-6",
      maskedPhone: "254******678",
    };
    const mint = givenTransaction({
      id: transactionId,
      accountId: own.id,
      amountCents: toCents(500),
      reference: `kesc:deposit:${id}:1` as Reference,
      rail: SLOW_RAIL,
      railReceipt: receiptNamed("d1"),
      depositId: id,
      availableAfterCents: toCents(10_500),
      createdAt: NOW,
      updatedAt: NOW,
      completedAt: NOW,
    });
    const about = { organizationId: ORGANIZATION, freezeId: undefined, actor: TEST_ACTOR, reason: "", recordedAt: NOW };
    expectWritten(decision, {
      resource: { deposit, transaction: mint },
      entries: [
        {
          ...about,
          accountId: undefined,
          transactionId: undefined,
          balancesAfter: undefined,
          detail: id,
          kind: "deposit.received",
          posting: { debit: "reserve", credit: "unallocated", amountCents: 500 },
          receipt: "d1",
        },
        {
          ...about,
          accountId: own.id,
          transactionId,
          kind: "transaction.completed",
          posting: { debit: "unallocated", credit: "available", amountCents: 500 },
          balancesAfter: { availableCents: 10_500, heldCents: 2_000 },
          detail: undefined,
          receipt: undefined,
        },
      ],
      puts: [
        { table: "accounts", row: { ...own, availableCents: 10_500, updatedAt: NOW } },
        { table: "transactions", row: mint },
        { table: "deposits", row: deposit },
      ],
    });
  });

  it("counts the credit against the limits", () => {
    const { book } = bookOf({}, { limits: LIMITS });
    const effect = effectOf(decide(book, receiveDeposit(ORGANIZATION, { typed: NUMBER })));
    expect(putOf(effect, "accounts")?.usage?.day.MINT).to.equal(500);
    expect(effect.limits?.usage?.day.MINT).to.equal(500);
  });

  it("credits a frozen account: the shillings have arrived", () => {
    const { book } = bookOf({ status: "FROZEN" });
    const effect = effectOf(decide(book, receiveDeposit(ORGANIZATION, { typed: NUMBER })));
    expect(putOf(effect, "accounts")).to.include({ status: "FROZEN", availableCents: 10_500 });
  });

  const small = (cents: number): Partial<BookHead> => ({
    limits: { ...LIMITS, organization: { MINT: { DAY: toCents(cents) }, REDEEM: {} } },
  });
  for (const [reason, what, given, account, head] of [
    ["NO_REFERENCE", "nothing typed", {}, {}, {}],
    ["UNKNOWN_REFERENCE", "words", { typed: "rent" }, {}, {}],
    ["UNKNOWN_REFERENCE", "a mistyped reference", { typed: "20000007" }, {}, {}],
    ["UNKNOWN_REFERENCE", "a reference that no account has", { typed: depositReference(1) }, {}, {}],
    // It comes before the account's balance: a closed account says more than a limit.
    ["ACCOUNT_CLOSED", "a closed account", { typed: NUMBER }, { status: "CLOSED", ...EMPTY }, small(1)],
    ["LIMIT_EXCEEDED", "a full account", { typed: NUMBER }, { availableCents: toCents(MAX_CENTS - 2_000) }, {}],
    ["LIMIT_EXCEEDED", "a limit of the organization", { typed: NUMBER }, {}, small(499)],
    ["ORDER_UNCLEAR", "an order that nobody knows", { typed: NUMBER, orderId: newTransactionId() }, {}, {}],
  ] as const) {
    it(`keeps shillings for a person, with ${what}: ${reason}`, () => {
      const { book } = bookOf(account, head);
      const command = receiveDeposit(ORGANIZATION, given);
      const decision = decide(book, command);
      const { entries, puts } = effectOf(decision);
      expect(entries).to.have.length(1);
      expect(entries[0]).to.deep.include({
        kind: "deposit.received",
        detail: `${command.newDepositId} ${reason}`,
        posting: { debit: "reserve", credit: "unallocated", amountCents: 500 },
        receipt: "d1",
      });
      expect(puts.map(({ table }) => table)).to.deep.equal(["deposits"]);
      const wanted = { status: "UNALLOCATED", reason, credits: 0, accountId: undefined, transactionId: undefined };
      expect(puts[0]?.row).to.include(wanted);
      expect(decision).to.have.nested.include({ "resource.deposit": puts[0]?.row, "resource.transaction": undefined });
    });
  }

  it("keeps shillings for a person if the book has their number from another source, and names it", () => {
    const { own } = bookOf();
    for (const [given, number] of [
      [{ typed: NUMBER }, "SKQ7XH2M4P"],
      [{ typed: "", orderId: newTransactionId() }, "skq7xh2m4p"],
    ] as const) {
      const earlier = givenTransaction({ accountId: own.id, railReceipt: receiptNamed(`kcb:${number}`) });
      const command = receiveDeposit(ORGANIZATION, { receipt: "SKQ7XH2M4P", ...given });
      const { entries, puts } = effectOf(decide(givenBook({ accounts: [own], transactions: [earlier] }), command));
      const detail = `${command.newDepositId} RECEIPT_ALREADY_USED kcb:${number} ${earlier.id}`;
      expect(entries.map((entry) => [entry.kind, entry.detail])).to.deep.equal([["deposit.received", detail]]);
      expect(puts.map(({ row }) => row)).to.deep.include.members([
        {
          ...givenDeposit({ id: command.newDepositId, receipt: receiptNamed("SKQ7XH2M4P") }),
          reason: "RECEIPT_ALREADY_USED",
          sameNumber: { receipt: `kcb:${number}`, id: earlier.id },
          typedReference: given.typed === "" ? undefined : given.typed,
          createdAt: NOW,
          updatedAt: NOW,
        },
      ]);
    }
  });

  it("is not held up by the number of a rail, of a charge or of another organization", () => {
    const { own } = bookOf();
    const others = ["sandbox:SKQ7XH2M4P", "charge:SKQ7XH2M4P", "kcb:SKQ7XH2M4PQ", "skq7xh2m4p:1"].map((name) =>
      givenTransaction({ accountId: own.id, railReceipt: receiptNamed(name) }),
    );
    const theirs = { organizationId: STRANGER, receipt: receiptNamed("kcb:SKQ7XH2M4P") };
    const ofOthers = others.map(({ railReceipt, id: transactionId }) => ({
      organizationId: ORGANIZATION,
      receipt: railReceipt as RailReceipt,
      transactionId,
      depositId: undefined,
    }));
    const receipts = [...ofOthers, { ...theirs, transactionId: undefined, depositId: undefined }];
    const command = receiveDeposit(ORGANIZATION, { typed: NUMBER, receipt: "SKQ7XH2M4P" });
    const effect = effectOf(decide(givenBook({ accounts: [own], receipts }), command));
    expect(putOf(effect, "deposits")).to.include({ status: "CREDITED", sameNumber: undefined });
  });

  it("takes as much as a limit lets in", () => {
    const { book } = bookOf({}, small(500));
    const effect = effectOf(decide(book, receiveDeposit(ORGANIZATION, { typed: NUMBER })));
    expect(putOf(effect, "deposits")).to.include({ status: "CREDITED" });
  });

  // The order of rows is the order of checks.
  const full = { reserve: MAX_SUM_CENTS - 499, unallocated: MAX_SUM_CENTS - 499 };
  const sums = { shortfall: 0, charges: 0, available: 0, held: 0, ...full };
  for (const [expected, head] of [
    ["BOOK_RESTORED", { state: "RESTORED", sums }],
    ["LIMIT_EXCEEDED", { sums }],
  ] as const) {
    it(`refuses with ${expected}, and a receipt of the book is a replay before that`, () => {
      const deposit = givenDeposit();
      const command = receiveDeposit(ORGANIZATION, { typed: NUMBER });
      const rows = { books: [givenHead(head)], accounts: [givenAccount({ depositReference: NUMBER })] };
      expect(wordOf(decide(rows, command))).to.equal(expected);
      const used = { organizationId: ORGANIZATION, receipt: deposit.receipt, transactionId: undefined };
      const book = givenBook({ ...rows, deposits: [deposit], receipts: [{ ...used, depositId: deposit.id }] });
      expect(decide(book, command)).to.deep.equal(replay({ deposit, transaction: undefined }));
    });
  }

  it("is a replay for the receipt of a transaction, and books nothing", () => {
    const { own } = bookOf();
    const minted = givenTransaction({ accountId: own.id, railReceipt: receiptNamed("d1") });
    const book = givenBook({ accounts: [own], transactions: [minted] });
    const decision = decide(book, receiveDeposit(ORGANIZATION, { typed: NUMBER }));
    expect(decision).to.deep.equal(replay({ deposit: undefined, transaction: undefined }));
  });

  describe("that a caller creates", () => {
    const idempotencyKey = "key" as IdempotencyKey;
    const key = { organizationId: ORGANIZATION, key: idempotencyKey, createdAt: EARLIER };
    const command = receiveDeposit(ORGANIZATION, { creation: { idempotencyKey } });
    const same = givenDeposit({ id: command.newDepositId });
    const other = givenDeposit({ receipt: receiptNamed("d2") });
    const minted = givenTransaction({ accountId: givenAccount().id, railReceipt: command.receipt });

    it("looks the key up", () => {
      const needed: string[] = [];
      operation.lookup(command, { need: (finder: string) => needed.push(finder) } as never);
      expect(needed).to.include("idempotencyKeyOfDeposit");
    });

    it("keeps the key, and takes a book that comes from a backup: nothing real moves", () => {
      const book = givenBook({ books: [givenHead({ state: "RESTORED" })] });
      const row = { ...key, resourceId: command.newDepositId, createdAt: NOW };
      expect(effectOf(decide(book, command)).puts).to.deep.include({ table: "idempotencyKeys", row });
    });

    // The order of rows is the order of checks.
    for (const [what, word, rows] of [
      ["the key of another deposit", "IDEMPOTENCY_KEY_REUSED", { deposits: [other], keyed: other.id }],
      ["its own key again", "replay", { deposits: [same], keyed: same.id }],
      ["the receipt again", "replay", { deposits: [same] }],
      ["the receipt with another amount", "RECEIPT_ALREADY_USED", { deposits: [{ ...same, amountCents: toCents(7) }] }],
      ["the receipt of a mint", "RECEIPT_ALREADY_USED", { transactions: [minted] }],
    ] as const) {
      it(`decides ${word} for ${what}`, () => {
        const { keyed, ...given } = { keyed: undefined, ...rows };
        const idempotencyKeys = keyed === undefined ? [] : [{ ...key, resourceId: keyed }];
        expect(wordOf(decide({ ...given, idempotencyKeys }, command))).to.equal(word);
      });
    }
  });
});

describe("receiving shillings for an order", () => {
  const account = givenAccount({ openPayments: 1, depositReference: NUMBER });

  interface Given extends Partial<Transaction> {
    readonly late?: Partial<Transaction>;
    readonly railAccountId?: RailAccountId;
    readonly head?: Partial<BookHead>;
    /** Whether a mint has the number of the report from another source. */
    readonly sameNumber?: boolean;
  }

  /** A mint of 5.00 on the rail, and perhaps a late correction of it. */
  function receive(
    { late, railAccountId, head, sameNumber = false, ...given }: Given,
    report: Parameters<typeof receiveDeposit>[1] = {},
  ) {
    const order = givenPending({ accountId: account.id, amountCents: toCents(500), status: "PROCESSING", ...given });
    const isOpen = order.status === "PENDING" || order.status === "PROCESSING";
    const payment = givenPayment(order, {
      ...(isOpen ? { state: "SENDING", begunAt: EARLIER } : { state: "ENDED" }),
      railAccountId: railAccountId ?? RAIL_TERMS.railAccountId,
    });
    const corrections = late === undefined ? [] : [lateOf(order, late)];
    const others = sameNumber ? [givenTransaction({ accountId: account.id, railReceipt: receiptNamed("kcb:r1") })] : [];
    const book = givenBook({
      accounts: [account],
      transactions: [order, ...corrections, ...others],
      payments: [payment],
      books: [givenHead(head)],
    });
    const command = receiveDeposit(ORGANIZATION, { typed: "earlier", receipt: "r1", orderId: order.id, ...report });
    return { order, command, decision: decide(book, command) };
  }

  function lateOf({ id }: Transaction, given: Partial<Transaction>): Transaction {
    const corrects = { kind: "LATE", transactionId: id } as const;
    return givenTransaction({
      accountId: account.id,
      rail: SLOW_RAIL,
      reference: "late" as Reference,
      corrects,
      ...given,
    });
  }

  const done = { status: "COMPLETED" } as const;
  const failed = { status: "FAILED", failure: "TIMED_OUT" as Transaction["failure"] } as const;

  for (const [what, given, report, kind, changed] of [
    ["completes the order that the rail was asked about", {}, {}, "transaction.completed", { railReceipt: R1 }],
    [
      "completes an order that another report contradicted, if it leaves nothing out",
      { openFlags: ["REPORT_DIFFERS"] },
      { phone: "254******678" as MaskedPhone },
      "transaction.completed",
      { railReceipt: R1, openFlags: [] },
    ],
    [
      "adds the receipt that an earlier report left out",
      { ...done, railMovement: movementNamed("m1") },
      {},
      "transaction.receipted",
      { railReceipt: R1 },
    ],
  ] as const) {
    it(what, () => {
      const { order, decision } = receive(given, report);
      const effect = effectOf(decision);
      expect(effect.entries.map((entry) => entry.kind)).to.deep.equal([kind]);
      expect(effect.entries[0]?.receipt).to.equal(R1);
      expect(putOf(effect, "transactions")).to.deep.include({ id: order.id, status: "COMPLETED", ...changed });
      const ofOrder = { "resource.deposit": undefined, "resource.transaction": putOf(effect, "transactions") };
      expect(decision).to.have.nested.include(ofOrder);
      expect(putOf(effect, "deposits")).to.equal(undefined);
    });
  }

  for (const [what, given, report] of [
    ["a completed order, whose receipt the rail lists", { ...done, railReceipt: R2 }, { confirmedReceipts: [R1, R2] }],
    ["a failed order", failed, {}],
    [
      "an order with a correction, whose receipt the rail lists",
      { ...failed, late: { railReceipt: R2 } },
      { confirmedReceipts: [R2] },
    ],
    [
      "a completed order, of another amount",
      { ...done, railReceipt: R2 },
      { confirmedReceipts: [R2], amountCents: toCents(7) },
    ],
  ] as const) {
    it(`mints late for ${what}`, () => {
      const { order, command, decision } = receive(given, report);
      const effect = effectOf(decision);
      expect(putOf(effect, "transactions")).to.deep.include({
        id: command.newTransactionId,
        corrects: { kind: "LATE", transactionId: order.id },
        amountCents: command.amountCents,
        railReceipt: R1,
        depositId: undefined,
      });
      expect(effect.entries.map((entry) => [entry.kind, entry.receipt])).to.deep.equal([["transaction.completed", R1]]);
    });
  }

  const other = "another account at a rail" as RailAccountId;
  for (const [what, given, report] of [
    ["of another account at the rail", { railAccountId: other }, {}],
    ["that pays out", { type: "REDEEM" }, {}],
    ["that was not asked about", { status: "PENDING" }, {}],
    ["that was canceled", { status: "CANCELED" }, {}],
    ["that failed because its report differs", { status: "FAILED", failure: "REPORT_DIFFERS" }, {}],
    ["whose receipt the rail does not list", { ...done, railReceipt: R2 }, { confirmedReceipts: [R1] }],
    ["whose correction has a receipt that the rail does not list", { ...failed, late: { railReceipt: R2 } }, {}],
  ] as const) {
    it(`keeps shillings for a person with the reference of an order ${what}: ORDER_UNCLEAR`, () => {
      const { decision } = receive(given, { typed: NUMBER, ...report });
      const effect = effectOf(decision);
      expect(effect.entries.map(({ kind }) => kind)).to.deep.equal(["deposit.received"]);
      expect(putOf(effect, "deposits")).to.include({ status: "UNALLOCATED", reason: "ORDER_UNCLEAR", receipt: R1 });
      expect(effect.puts).to.have.length(1);
    });
  }

  for (const [what, given, report] of [
    ["another amount", {}, { amountCents: toCents(501) }],
    ["another phone number", {}, { phone: "254******999" as MaskedPhone }],
  ] as const) {
    it(`keeps shillings for a person with the reference of an open order of ${what}, and flags the order`, () => {
      const { order, command, decision } = receive(given, { typed: NUMBER, ...report });
      const effect = effectOf(decision);
      expect(effect.entries.map(({ kind, detail }) => [kind, detail])).to.deep.equal([
        ["deposit.received", `${command.newDepositId} ORDER_UNCLEAR`],
        // Otherwise a query that says only "paid" would count the order's amount, too.
        ["transaction.flagged", "REPORT_DIFFERS"],
      ]);
      expect(putOf(effect, "deposits")).to.include({ status: "UNALLOCATED", receipt: R1 });
      expect(putOf(effect, "transactions")).to.deep.include({ id: order.id, openFlags: ["REPORT_DIFFERS"] });
    });
  }

  it("keeps shillings for a person if the order's number came from another source, and flags an open order", () => {
    for (const given of [{}, failed]) {
      const { order, command, decision } = receive({ ...given, sameNumber: true }, {});
      const effect = effectOf(decision);
      expect(effect.entries[0]?.detail).to.match(
        new RegExp(`^${command.newDepositId} RECEIPT_ALREADY_USED kcb:r1 txn_`),
      );
      expect(putOf(effect, "deposits")).to.include({ status: "UNALLOCATED", receipt: R1 });
      const flags = given === failed ? undefined : ["REPORT_DIFFERS"];
      expect(putOf(effect, "transactions")?.openFlags, order.id).to.deep.equal(flags);
    }
  });

  it("flags an order whose shillings are counted without a receipt, if the list has another amount: no second credit", () => {
    const given = { ...done, railMovement: movementNamed("m1"), amountCents: toCents(5) };
    const { order, decision } = receive(given, { typed: NUMBER });
    const effect = effectOf(decision);
    expect(effect.entries.map(({ kind, detail, reason, posting }) => [kind, detail, reason, posting])).to.deep.equal([
      ["transaction.flagged", "REPORT_DIFFERS", "the rail lists 5.00 KES with receipt r1", undefined],
    ]);
    expect(putOf(effect, "deposits")).to.equal(undefined);
    const again = receive({ ...given, openFlags: ["REPORT_DIFFERS"] }, { typed: NUMBER });
    expect(again.decision.kind).to.equal("replay");
    expect(order.id).to.be.a("string");
  });

  it("completes an order that a report has contradicted: the list of the rail decides", () => {
    const effect = effectOf(receive({ openFlags: ["REPORT_DIFFERS"] }).decision);
    expect(effect.entries.map(({ kind }) => kind)).to.deep.equal(["transaction.completed"]);
    expect(putOf(effect, "deposits")).to.equal(undefined);
  });

  it("refuses what the book cannot hold, though the order would take it", () => {
    const cents = MAX_SUM_CENTS - 499;
    const sums = { reserve: cents, shortfall: 0, charges: 0, available: 0, held: 0, unallocated: cents };
    expect(wordOf(receive({ head: { sums } }).decision)).to.equal("LIMIT_EXCEEDED");
  });
});
