import { expect } from "chai";

import { type BookSums, MAX_SUM_CENTS } from "../../../src/domain/book.js";
import { replay } from "../../../src/domain/decision.js";
import type { Resolution } from "../../../src/domain/payment.js";
import type { Decider, Proposal } from "../../../src/domain/proposal.js";
import { contentFrom } from "../../../src/domain/proposal-content.js";
import { BANK_RAIL, type Transaction } from "../../../src/domain/transaction.js";
import { toCents } from "../../../src/domain/values/cents.js";
import type { Reference } from "../../../src/domain/values/text.js";
import { toUnixMillis } from "../../../src/domain/values/time.js";
import { asShown, decide, effectOf, expectRefused, proposedContent, putOf, wordOf } from "../../support/decided.js";
import {
  givenAccount,
  givenBook,
  givenHead,
  givenPayment,
  givenPending,
  givenPlace,
  givenProposal,
  givenTransaction,
  railAccount,
} from "../../support/given.js";
import { EARLIER, newTransactionId, NOW, ORGANIZATION, receiptNamed, SLOW_RAIL } from "../../support/names.js";
import { resolve } from "../../support/operations/transactions.js";

// Before: 100.00 available, 20.00 held. The order is for 20.00.
const account = givenAccount({ openPayments: 1 });
const R1 = receiptNamed("r1");
const COMPLETED: Resolution = { kind: "COMPLETED", receipt: R1 };
const FAILED: Resolution = { kind: "FAILED" };
const MOVED: Resolution = { kind: "MOVED", receipt: R1, amountCents: toCents(1_500) };

function unknown(given: Partial<Transaction> = {}): Transaction {
  const flagged = { status: "PROCESSING", openFlags: ["OUTCOME_UNKNOWN"] } as const;
  return givenPending({ accountId: account.id, amountCents: account.heldCents, ...flagged, ...given });
}

function bookWith(
  transaction: Transaction,
  given: {
    more?: readonly Transaction[];
    proposal?: Partial<Proposal>;
    sums?: Partial<BookSums>;
    /** Null: the account at the rail is not there any more. */
    aloneMaxCents?: number | null;
  } = {},
) {
  const { more = [], proposal, sums, aloneMaxCents = 2_000 } = given;
  const head = givenHead();
  return givenBook({
    books: [{ ...head, sums: { ...head.sums, ...sums } }],
    accounts: [account],
    transactions: [transaction, ...more],
    payments: [givenPayment(transaction, { state: "SENDING", begunAt: EARLIER })],
    reservePlaces: [givenPlace("KCB 1234")],
    railAccounts:
      aloneMaxCents === null ? [] : [railAccount(ORGANIZATION, { resolveAloneMaxCents: toCents(aloneMaxCents) })],
    proposals:
      proposal === undefined
        ? []
        : [givenProposal({ subject: transaction.id, content: contentOf(transaction, COMPLETED), ...proposal })],
  });
}

/** The content of the proposal that such a resolution makes. */
function contentOf(transaction: Transaction, resolution: Resolution): string {
  const command = resolve(ORGANIZATION, transaction.id, resolution);
  return proposedContent(decide(bookWith(transaction, { aloneMaxCents: 0 }), command));
}

describe("resolving a transaction", () => {
  for (const openFlags of [["OUTCOME_UNKNOWN"], []] as const) {
    it(`ends an order that the rail has with ${String(openFlags.length)} flags`, () => {
      const transaction = unknown({ openFlags });
      const command = resolve(ORGANIZATION, transaction.id, FAILED);
      const effect = effectOf(decide(bookWith(transaction), command));
      expect(putOf(effect, "transactions")).to.include({ status: "FAILED" });
    });
  }

  it("answers with the flag of a mint that the account cannot take", () => {
    const transaction = unknown({ type: "MINT", openFlags: [] });
    const book = bookWith(transaction, { sums: { available: MAX_SUM_CENTS } });
    const decision = decide(book, resolve(ORGANIZATION, transaction.id, COMPLETED));
    const stored = putOf(effectOf(decision), "transactions");
    expect(stored).to.deep.include({ status: "COMPLETED", openFlags: ["NOT_CREDITED"] });
    expect(decision).to.deep.include({ resource: { resource: { ...stored, correction: undefined } } });
  });

  for (const [resolution, details] of [
    [COMPLETED, ['["","amina"]']],
    [FAILED, ['["RESOLVED_BY_OPERATOR","amina"]']],
    [MOVED, ['["REPORT_DIFFERS","amina"]', '["LATE","amina"]']],
  ] as const) {
    it(`names who decided ${resolution.kind} in the rows that end it, the proposer first`, () => {
      const transaction = unknown();
      const decided = (person: string, proposal?: Partial<Proposal>) =>
        effectOf(
          decide(
            bookWith(transaction, proposal === undefined ? {} : { proposal, aloneMaxCents: 0 }),
            resolve(ORGANIZATION, transaction.id, resolution, { person }),
          ),
        ).entries.map(({ detail }) => detail);
      expect(decided("amina")).to.deep.equal(details);
      const content = contentOf(transaction, resolution);
      expect(decided("amina", { content })).to.deep.equal([
        ...details.map((detail) => detail.replace('"amina"', '"brian","amina"')),
        JSON.stringify([transaction.id]),
      ]);
    });
  }

  for (const [what, type, resolution, kinds, postings, balances] of [
    ["a mint that was paid", "MINT", COMPLETED, ["completed"], ["reserve to available"], [12_000, 2_000]],
    ["a redemption that was paid out", "REDEEM", COMPLETED, ["completed"], ["held to reserve"], [10_000, 0]],
    ["a mint that was not paid", "MINT", FAILED, ["failed"], [undefined], [10_000, 2_000]],
    ["a redemption that was not paid out", "REDEEM", FAILED, ["failed"], ["held to available"], [12_000, 0]],
    [
      "a redemption of which less was paid out",
      "REDEEM",
      MOVED,
      ["failed", "completed"],
      ["held to available", "available to reserve"],
      [10_500, 0],
    ],
    [
      "a mint of which less was paid",
      "MINT",
      MOVED,
      ["failed", "completed"],
      [undefined, "reserve to available"],
      [11_500, 2_000],
    ],
  ] as const) {
    it(`ends ${what}`, () => {
      const transaction = unknown({ type });
      const command = resolve(ORGANIZATION, transaction.id, resolution);
      const effect = effectOf(decide(bookWith(transaction), command));
      expect(effect.entries.map(({ kind }) => kind)).to.deep.equal(kinds.map((kind) => `transaction.${kind}`));
      expect(effect.entries.map(({ posting }) => posting && `${posting.debit} to ${posting.credit}`)).to.deep.equal(
        postings,
      );
      const [availableCents, heldCents] = balances;
      expect(putOf(effect, "accounts")).to.deep.equal({
        ...account,
        availableCents,
        heldCents,
        openPayments: 0,
        updatedAt: postings.some((posting) => posting !== undefined) ? NOW : EARLIER,
      });
      expect(putOf(effect, "payments")).to.include({ state: "ENDED", number: undefined });
      expect(putOf(effect, "transactions")).to.deep.include({
        id: transaction.id,
        status: resolution.kind === "COMPLETED" ? "COMPLETED" : "FAILED",
        failure: { COMPLETED: undefined, FAILED: "RESOLVED_BY_OPERATOR", MOVED: "REPORT_DIFFERS" }[resolution.kind],
        railReceipt: resolution.kind === "COMPLETED" ? R1 : undefined,
        openFlags: [],
      });
    });
  }

  it("books what moved instead as a correction with the receipt", () => {
    const transaction = unknown({ type: "REDEEM" });
    const command = resolve(ORGANIZATION, transaction.id, MOVED);
    const decision = decide(bookWith(transaction), command);
    expect(decision)
      .to.have.nested.property("resource.resource")
      .that.includes({ id: transaction.id, status: "FAILED" });
    expect(decision)
      .to.have.nested.property("resource.resource.correction")
      .that.deep.includes({
        id: command.facts.newTransactionId,
        status: "COMPLETED",
        amountCents: 1_500,
        reference: "kesc:late:receipt:r1",
        railReceipt: R1,
        railMovement: undefined,
        corrects: { kind: "LATE", transactionId: transaction.id },
      });
    expect(effectOf(decision).entries[1]).to.include({ transactionId: command.facts.newTransactionId, receipt: R1 });
  });

  describe("above what one person may decide", () => {
    const transaction = unknown();
    const command = resolve(ORGANIZATION, transaction.id, COMPLETED);
    const content = contentOf(transaction, COMPLETED);
    const row = {
      organizationId: ORGANIZATION,
      subject: transaction.id,
      content,
      id: command.authority.newProposalId,
      seq: 0,
      person: "amina",
      proposedAt: NOW,
      expiresAt: undefined,
      decided: undefined,
      sealed: undefined,
    };

    for (const [what, proposal] of [
      ["notes a proposal", undefined],
      ["replaces the proposal of something else", { content: contentOf(transaction, FAILED) }],
    ] as const) {
      it(`${what}, and leaves the transaction PROCESSING`, () => {
        const book = bookWith(transaction, { ...(proposal === undefined ? {} : { proposal }), aloneMaxCents: 1_999 });
        const decision = decide(book, command);
        const effect = effectOf(decision);
        expect(effect.entries).to.have.length(1);
        expect(effect.entries[0]).to.include({
          kind: "transaction.resolution_proposed",
          posting: undefined,
          detail: JSON.stringify([transaction.id, "amina", content]),
        });
        const proposed = { ...transaction, updatedAt: NOW };
        expect(effect.puts).to.deep.equal([
          { table: "accounts", row: account },
          { table: "transactions", row: proposed },
          { table: "proposals", row },
        ]);
      });
    }

    it("is a replay for the person who has proposed the same", () => {
      const book = bookWith(transaction, { proposal: { person: "amina" as Decider }, aloneMaxCents: 1_999 });
      const proposal = book.proposal(ORGANIZATION, transaction.id);
      expect(decide(book, command)).to.deep.equal(replay({ proposal }));
    });

    it("takes a name that looks like another for that person: capitals, letters of other scripts, spaces", () => {
      for (const person of ["AMINA", "\u0430mina", "amina ", "\uFF41mina", "am\u0131na"] as Decider[]) {
        const book = bookWith(transaction, { proposal: { person }, aloneMaxCents: 1_999 });
        expect(decide(book, command), person).to.have.property("kind", "replay");
      }
    });

    it("ends it once another person has proposed the same", () => {
      const effect = effectOf(decide(bookWith(transaction, { proposal: {}, aloneMaxCents: 1_999 }), command));
      const kinds = ["transaction.completed", "book.proposal_approved"];
      expect(effect.entries.map(({ kind }) => kind)).to.deep.equal(kinds);
      expect(putOf(effect, "proposals")?.decided).to.deep.equal({ as: "APPROVED", by: "amina", at: NOW });
    });

    it("asks for a second person, whatever the amount, if the account at the rail is gone", () => {
      const small = unknown({ amountCents: toCents(1) });
      const decision = decide(bookWith(small, { aloneMaxCents: null }), resolve(ORGANIZATION, small.id, COMPLETED));
      expect(effectOf(decision).entries[0]?.kind).to.equal("transaction.resolution_proposed");
    });

    it("looks at the larger of what was ordered and what moved", () => {
      for (const amountCents of [toCents(1), toCents(2_001)]) {
        const moved: Resolution = { kind: "MOVED", receipt: R1, amountCents };
        const aloneMaxCents = amountCents === 1 ? 1_999 : 2_000;
        const decision = decide(bookWith(transaction, { aloneMaxCents }), resolve(ORGANIZATION, transaction.id, moved));
        expect(effectOf(decision).entries[0]?.kind).to.equal("transaction.resolution_proposed");
      }
    });

    for (const [expected, person] of [
      ["effect", "brian"],
      ["OWN_PROPOSAL", "amina"],
    ] as const) {
      it(`decides ${expected} about an approval by ${person}`, () => {
        const book = bookWith(transaction, { proposal: { person: "amina" as Decider }, aloneMaxCents: 1_999 });
        const approves = book.proposal(ORGANIZATION, transaction.id)?.id;
        const authority = { ...command.authority, person: person as Decider, approves };
        expect(wordOf(decide(book, asShown({ ...command, authority }, content)))).to.equal(expected);
      });
    }

    it("is read again from what was proposed", () => {
      for (const resolution of [COMPLETED, FAILED, MOVED]) {
        const proposed = contentFrom(contentOf(transaction, resolution));
        expect(proposed).to.deep.include({ name: "resolveTransaction", transactionId: transaction.id, resolution });
      }
    });

    it("knows no two resolutions of equal content that differ", () => {
      const contents = [COMPLETED, FAILED, MOVED, { ...MOVED, amountCents: toCents(1_501) }].map((resolution) =>
        contentOf(transaction, resolution),
      );
      expect(new Set(contents).size).to.equal(4);
    });
  });

  describe("that has ended", () => {
    for (const [what, given, resolution] of [
      ["with the same receipt", { status: "COMPLETED", railReceipt: R1 }, COMPLETED],
      ["by the same word", { status: "FAILED", failure: "RESOLVED_BY_OPERATOR" }, FAILED],
    ] as const) {
      it(`is a replay ${what}`, () => {
        const transaction = unknown({ ...given, openFlags: [] });
        const command = resolve(ORGANIZATION, transaction.id, resolution);
        expect(decide(bookWith(transaction), command)).to.deep.equal(
          replay({ resource: { ...transaction, correction: undefined } }),
        );
      });
    }

    it("is a replay with what moved instead", () => {
      const transaction = unknown({ status: "FAILED", failure: "REPORT_DIFFERS", openFlags: [] });
      const late = givenTransaction({
        accountId: account.id,
        amountCents: toCents(1_500),
        railReceipt: R1,
        reference: "kesc:late:receipt:r1" as Reference,
        corrects: { kind: "LATE", transactionId: transaction.id },
      });
      const command = resolve(ORGANIZATION, transaction.id, MOVED);
      expect(decide(bookWith(transaction, { more: [late] }), command)).to.deep.equal(
        replay({ resource: { ...transaction, correction: late } }),
      );
    });
  });

  const used = givenTransaction({ accountId: account.id, railReceipt: R1 });
  const full = { reserve: MAX_SUM_CENTS, unallocated: MAX_SUM_CENTS };
  // The order of rows is the order of checks.
  for (const [what, given, resolution, more, facts] of [
    [
      "a pending transaction, which can be canceled",
      { status: "PENDING" },
      FAILED,
      {},
      { reason: "INVALID_TRANSITION", from: "PENDING", to: "FAILED" },
    ],
    [
      "one that was completed with another receipt",
      { status: "COMPLETED", railReceipt: receiptNamed("r2") },
      COMPLETED,
      {},
      { reason: "TRANSACTION_ALREADY_ENDED", status: "COMPLETED" },
    ],
    [
      "one of which nothing else has moved",
      { status: "FAILED", failure: "WRONG_PIN" },
      MOVED,
      {},
      { reason: "TRANSACTION_ALREADY_ENDED", status: "FAILED" },
    ],
    [
      "one that the rail had refused",
      { status: "FAILED", failure: "WRONG_PIN" },
      FAILED,
      {},
      { reason: "TRANSACTION_ALREADY_ENDED", status: "FAILED" },
    ],
    [
      "a receipt of another rail, before it looks for the receipt",
      {},
      { kind: "COMPLETED", receipt: receiptNamed(`kcb:${R1}`) },
      { more: [used], sums: full },
      { reason: "RECEIPT_OF_OTHER_RAIL", rail: SLOW_RAIL },
    ],
    [
      "a receipt that another transaction has, before it looks at the book",
      {},
      COMPLETED,
      { more: [used], sums: full },
      { reason: "RECEIPT_ALREADY_USED", receipt: R1, transactionId: used.id, depositId: undefined },
    ],
    [
      "a mint that the book cannot take",
      {},
      COMPLETED,
      { sums: full },
      { reason: "LIMIT_EXCEEDED", accountId: undefined, limitCents: MAX_SUM_CENTS },
    ],
    [
      "a movement that the book cannot take",
      {},
      MOVED,
      { sums: full },
      { reason: "LIMIT_EXCEEDED", accountId: undefined, limitCents: MAX_SUM_CENTS },
    ],
  ] as const) {
    it(`refuses ${what}`, () => {
      const transaction = unknown(given);
      const command = resolve(ORGANIZATION, transaction.id, resolution);
      const decision = decide(bookWith(transaction, more), command);
      const refusal = "status" in facts ? { ...facts, transactionId: transaction.id } : facts;
      expectRefused(decision, refusal);
    });
  }

  it("refuses that an order failed while the request may be on its way to the rail", () => {
    const transaction = unknown();
    const decision = (resolution: Resolution) =>
      wordOf(decide(bookWith(transaction), resolve(ORGANIZATION, transaction.id, resolution), toUnixMillis(NOW - 1)));
    expect([FAILED, COMPLETED, MOVED].map(decision)).to.deep.equal(["INVALID_TRANSITION", "effect", "effect"]);
  });

  it("completes one of a bank only with a receipt of a place that has a figure", () => {
    const transaction = unknown({ rail: BANK_RAIL });
    const decision = (source: string) => {
      const resolution = { kind: "COMPLETED", receipt: receiptNamed(`${source}:FT1`) } as const;
      return wordOf(decide(bookWith(transaction), resolve(ORGANIZATION, transaction.id, resolution)));
    };
    expect(["kcb-1234", "kcb-123", "mpesa"].map(decision)).to.deep.equal([
      "effect",
      "RECEIPT_OF_OTHER_RAIL",
      "RECEIPT_OF_OTHER_RAIL",
    ]);
  });

  it("refuses a transaction without an order", () => {
    const direct = givenTransaction({ accountId: givenAccount().id });
    const command = resolve(ORGANIZATION, direct.id, FAILED);
    expect(wordOf(decide({ transactions: [direct] }, command))).to.equal("PAYMENT_NOT_FOUND");
  });

  it("refuses a transaction that does not exist", () => {
    const command = resolve(ORGANIZATION, newTransactionId(), FAILED);
    expect(wordOf(decide(bookWith(unknown()), command))).to.equal("TRANSACTION_NOT_FOUND");
  });
});
