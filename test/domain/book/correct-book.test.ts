import { expect } from "chai";

import type { LedgerAccount } from "../../../src/domain/account.js";
import { type BookSums, MAX_SUM_CENTS, postedToBook } from "../../../src/domain/book.js";
import type { CorrectBook } from "../../../src/domain/book/correct-book.js";
import { replay } from "../../../src/domain/decision.js";
import { type Decider, type Proposal, PROPOSAL_OPEN_MILLIS } from "../../../src/domain/proposal.js";
import { type Cents, MAX_CENTS, NO_CENTS, toCents } from "../../../src/domain/values/cents.js";
import { asShown, decide, effectOf, expectWritten, proposedContent, putOf, wordOf } from "../../support/decided.js";
import {
  entryOf,
  givenAccount,
  givenBook,
  givenHead,
  givenProposal,
  givenTransaction,
  railAccount,
} from "../../support/given.js";
import { EARLIER, NOW, ORGANIZATION, receiptNamed, STRANGER } from "../../support/names.js";
import { correctBook } from "../../support/operations/corrections.js";

const account = givenAccount();
const SUMS: BookSums = {
  reserve: 10_000,
  shortfall: 5_000,
  charges: 0,
  available: 10_000,
  held: 2_000,
  unallocated: 3_000,
};
const SUBJECT = `${ORGANIZATION}:c`;

interface Given {
  readonly account?: Partial<LedgerAccount>;
  readonly sums?: Partial<BookSums>;
  /** The sum of the deposits that are UNALLOCATED. */
  readonly ofDeposits?: number;
  readonly proposal?: Partial<Proposal> & Pick<Proposal, "content">;
  readonly aloneMaxCents?: number;
}

function bookWith({ account: given, sums, ofDeposits = 0, proposal, aloneMaxCents = MAX_CENTS }: Given = {}) {
  const used = givenTransaction({ accountId: account.id, railReceipt: receiptNamed("used") });
  return givenBook({
    books: [givenHead({ sums: { ...SUMS, ...sums } }), givenHead({ organizationId: STRANGER })],
    accounts: [{ ...account, ...given }],
    transactions: [used],
    unallocatedDepositCents: new Map([[ORGANIZATION, ofDeposits]]),
    railAccounts: [railAccount(ORGANIZATION, { resolveAloneMaxCents: aloneMaxCents as Cents })],
    proposals: proposal === undefined ? [] : [givenProposal({ subject: SUBJECT, ...proposal })],
  });
}

type Options = Partial<Parameters<typeof correctBook>[2]>;

/** Corrects the book by 1.00. */
function correct(name: CorrectBook["name"], given: Options = {}): CorrectBook {
  const target =
    name === "allocate" || name === "recoverShortfall" ? account.id : name === "adjustMovement" ? "used" : "r1";
  return correctBook(name, ORGANIZATION, { amountCents: 100, key: "c", target, ...given });
}

describe("correcting the book", () => {
  for (const [name, kind, debit, credit, balances] of [
    ["coverShortfall", "book.covered", "reserve", "shortfall", undefined],
    ["recoverShortfall", "book.recovered", "available", "shortfall", { availableCents: 9_900, heldCents: 2_000 }],
    ["allocate", "book.allocated", "unallocated", "available", { availableCents: 10_100, heldCents: 2_000 }],
    ["returnUnallocated", "book.returned", "unallocated", "reserve", undefined],
    ["bookReceipt", "book.received", "reserve", "unallocated", undefined],
  ] as const) {
    it(`${name} debits ${debit} and credits ${credit}`, () => {
      const book = bookWith();
      const before = book.bookOf(ORGANIZATION);
      const command = correct(name);
      const content = proposedContent(decide(book, command));
      const posting = { debit, credit, amountCents: toCents(100) } as const;
      const row = {
        organizationId: ORGANIZATION,
        subject: SUBJECT,
        id: command.authority.newProposalId,
        content,
        seq: 0,
        person: "amina",
        proposedAt: NOW,
        expiresAt: NOW + PROPOSAL_OPEN_MILLIS,
        decided: { as: "APPROVED", by: "amina", at: NOW },
        sealed: undefined,
      };
      expectWritten(decide(book, command), {
        resource: { resource: { ...before, lastSeq: 2, lastRecordedAt: NOW, sums: postedToBook(SUMS, posting) } },
        entries: [
          entryOf({
            accountId: balances === undefined ? undefined : account.id,
            kind,
            posting,
            balancesAfter: balances,
            detail: JSON.stringify([SUBJECT, "amina", content]),
            receipt: "receipt" in command ? "r1" : undefined,
            alone: { person: "amina", cents: 100 },
          }),
        ],
        puts: [
          ...(balances === undefined ? [] : [{ table: "accounts", row: { ...account, ...balances, updatedAt: NOW } }]),
          { table: "proposals", row },
        ],
      });
    });
  }

  const paysBalances = { availableCents: 9_900, heldCents: 2_000 };
  const getsBalances = { availableCents: 10_100, heldCents: 2_000 };
  const withAccount = { account: account.id };
  for (const [name, given, kind, moves, balances, receipt, targets] of [
    ["bookPayment", {}, "book.paid", "shortfall to reserve", undefined, "r1", ["r1"]],
    ["bookPayment", withAccount, "book.paid", "available to reserve", paysBalances, "r1", ["r1", account.id]],
    ["adjustMovement", {}, "book.adjusted", "shortfall to reserve", undefined, undefined, ["used", "out"]],
    [
      "adjustMovement",
      withAccount,
      "book.adjusted",
      "available to reserve",
      paysBalances,
      undefined,
      ["used", "out", account.id],
    ],
    [
      "adjustMovement",
      { direction: "in" },
      "book.adjusted",
      "reserve to unallocated",
      undefined,
      undefined,
      ["used", "in"],
    ],
    [
      "adjustMovement",
      { direction: "in", ...withAccount },
      "book.adjusted",
      "reserve to available",
      getsBalances,
      undefined,
      ["used", "in", account.id],
    ],
    ["explainTransfer", { direction: "in" }, "book.transferred", undefined, undefined, "r1", ["r1", "in"]],
    ["fundCharges", { direction: "in" }, "book.funded", "reserve to charges", undefined, "r1", ["r1", "in"]],
    ["fundCharges", { direction: "out" }, "book.funded", "charges to reserve", undefined, "r1", ["r1", "out"]],
  ] as const) {
    it(`${name} ${moves === undefined ? "moves nothing" : `moves ${moves}`} for ${targets.join(" ")}`, () => {
      const command = correct(name, given);
      const effect = effectOf(decide(bookWith(), command));
      const [entry] = effect.entries;
      expect(entry).to.deep.include({ kind, receipt, balancesAfter: balances });
      expect(entry?.posting && `${entry.posting.debit} to ${entry.posting.credit}`).to.equal(moves);
      const content = proposedContent(decide(bookWith(), command));
      expect(content).to.include(`"name":"${name}"`);
      expect(entry?.detail).to.equal(JSON.stringify([SUBJECT, "amina", content]));
      expect(putOf(effect, "proposals")).to.deep.include({
        content,
        decided: { as: "APPROVED", by: "amina", at: NOW },
      });
      expect(putOf(effect, "accounts")?.availableCents).to.equal(balances?.availableCents);
    });
  }

  for (const [expected, status] of [
    ["effect", "COMPLETED"],
    ["MOVEMENT_NOT_FOUND", "FAILED"],
  ] as const) {
    it(`takes the id of a transaction that is ${status} as the movement: ${expected}`, () => {
      const transaction = givenTransaction({ accountId: account.id, status });
      const given = { books: [givenHead({ sums: SUMS })], railAccounts: [railAccount(ORGANIZATION)] };
      const book = givenBook({ ...given, accounts: [account], transactions: [transaction] });
      expect(wordOf(decide(book, correct("adjustMovement", { target: transaction.id })))).to.equal(expected);
    });
  }

  it("gives unallocated shillings to a frozen account too", () => {
    const effect = effectOf(decide(bookWith({ account: { status: "FROZEN" } }), correct("allocate")));
    expect(putOf(effect, "accounts")).to.include({ availableCents: 10_100, status: "FROZEN" });
  });

  describe("above what one person may decide", () => {
    const command = correct("bookReceipt");
    const aloneMaxCents = 99;
    const content = proposedContent(decide(bookWith({ aloneMaxCents }), command));

    for (const [what, given] of [
      ["notes a proposal", {}],
      ["replaces the proposal of something else", { proposal: { content: "else" } }],
    ] as const) {
      it(`${what}, and moves nothing`, () => {
        const effect = effectOf(decide(bookWith({ ...given, aloneMaxCents }), command));
        expect(effect.entries).to.have.length(1);
        expect(effect.entries[0]).to.deep.include({
          kind: "book.proposed",
          posting: undefined,
          detail: JSON.stringify([SUBJECT, "amina", content]),
        });
        expect(putOf(effect, "proposals")).to.include({
          content,
          person: "amina",
          proposedAt: NOW,
          decided: undefined,
        });
      });
    }

    for (const person of ["amina", "Amina"]) {
      it(`is a replay for the person who has proposed the same as ${person}`, () => {
        const book = bookWith({ proposal: { content, person: person as Decider }, aloneMaxCents });
        const proposal = book.proposal(ORGANIZATION, SUBJECT);
        expect(decide(book, command)).to.deep.equal(replay({ proposal }));
      });
    }

    for (const [expected, person, given] of [
      ["effect", "brian", {}],
      ["OWN_PROPOSAL", "amina", {}],
      ["PROPOSAL_CLOSED", "brian", { decided: { as: "REJECTED", by: undefined, at: EARLIER } }],
    ] as const) {
      it(`decides ${expected} about an approval by ${person}`, () => {
        const proposal = givenProposal({ subject: SUBJECT, content, person: "amina" as Decider, ...given });
        const authority = { ...command.authority, person: person as Decider, approves: proposal.id };
        const book = bookWith({ proposal, aloneMaxCents });
        expect(wordOf(decide(book, asShown({ ...command, authority }, content)))).to.equal(expected);
      });
    }

    it("refuses more proposals of one person than may wait", () => {
      const waiting = Array.from({ length: 20 }, (_, index) =>
        givenProposal({ content: String(index), person: "amina" as Decider, expiresAt: (NOW + 1) as typeof NOW }),
      );
      expect(wordOf(decide({ proposals: waiting }, command))).to.equal("TOO_MANY_PROPOSALS");
    });

    it("is done once another person has proposed the same, and keeps who proposed it", () => {
      const effect = effectOf(decide(bookWith({ proposal: { content }, aloneMaxCents }), command));
      expect(effect.entries[0]).to.include({ kind: "book.received", actor: "brian,amina" });
      const decided = { as: "APPROVED", by: "amina", at: NOW };
      expect(putOf(effect, "proposals")).to.deep.include({ person: "brian", proposedAt: EARLIER, decided });
    });
  });

  it("is a replay with the same key and content, though nothing is left to correct", () => {
    const command = correct("coverShortfall");
    const proposal = {
      // The shortfall that stood is no part of the act.
      content: proposedContent(decide(bookWith(), command)),
      decided: { as: "APPROVED", by: undefined, at: EARLIER },
    } as const;
    const book = bookWith({ proposal, sums: { reserve: 15_000, shortfall: 0 } });
    expect(decide(book, command)).to.deep.equal(replay({ resource: book.bookOf(ORGANIZATION) }));
  });

  const tooLow = { reason: "BOOK_ACCOUNT_TOO_LOW", requestedCents: 100 } as const;
  const empty = { availableCents: NO_CENTS, heldCents: NO_CENTS };
  const full: Partial<LedgerAccount> = { availableCents: toCents(MAX_CENTS - 99), heldCents: NO_CENTS };
  // The order of rows is the order of checks.
  for (const [what, command, given, facts] of [
    [
      "a key that did something else, before it looks at the account",
      correct("allocate"),
      {
        account: { organizationId: STRANGER },
        proposal: { content: '{"name":"else"}', decided: { as: "APPROVED", by: undefined, at: EARLIER } },
      },
      { reason: "IDEMPOTENCY_KEY_REUSED" },
    ],
    [
      "another organization's account",
      correct("allocate"),
      { account: { organizationId: STRANGER, status: "CLOSED" } },
      { reason: "ACCOUNT_NOT_FOUND", accountId: account.id },
    ],
    [
      "a closed account",
      correct("allocate"),
      { account: { status: "CLOSED", ...empty } },
      { reason: "ACCOUNT_CLOSED", accountId: account.id },
    ],
    [
      "to take from a frozen account, before it looks at its balance",
      correct("recoverShortfall"),
      { account: { status: "FROZEN", ...empty } },
      { reason: "ACCOUNT_FROZEN", accountId: account.id },
    ],
    [
      "to take more than an account has",
      correct("recoverShortfall", { amountCents: 10_001 }),
      {},
      { reason: "INSUFFICIENT_FUNDS", availableCents: 10_000, requestedCents: 10_001 },
    ],
    [
      "to let a frozen account pay for shillings that went out",
      correct("bookPayment", { account: account.id }),
      { account: { status: "FROZEN" } },
      { reason: "ACCOUNT_FROZEN", accountId: account.id },
    ],
    [
      "to explain a receipt that the book has",
      correct("explainTransfer", { target: "used" }),
      {},
      { reason: "RECEIPT_ALREADY_USED", receipt: "used" },
    ],
    [
      "to correct a movement that no row has",
      correct("adjustMovement", { target: "r1" }),
      {},
      { reason: "MOVEMENT_NOT_FOUND", movement: "r1" },
    ],
    [
      "to give an account more than it can hold",
      correct("allocate"),
      { account: full },
      { reason: "LIMIT_EXCEEDED", accountId: account.id, limitCents: MAX_CENTS },
    ],
    [
      "a receipt that is used, before it looks at the sums",
      correct("returnUnallocated", { target: "used" }),
      { sums: { unallocated: 0 } },
      { reason: "RECEIPT_ALREADY_USED", receipt: "used" },
    ],
    [
      "to cover more than is missing",
      correct("coverShortfall"),
      { sums: { shortfall: 99 } },
      { ...tooLow, bookAccount: "shortfall", balanceCents: 99 },
    ],
    [
      "to recover more than is missing",
      correct("recoverShortfall"),
      { sums: { shortfall: 99 } },
      { ...tooLow, bookAccount: "shortfall", balanceCents: 99 },
    ],
    [
      "to allocate more than belongs to nobody",
      correct("allocate"),
      { sums: { unallocated: 99 } },
      { ...tooLow, bookAccount: "unallocated", balanceCents: 99 },
    ],
    [
      "to allocate what belongs to a deposit",
      correct("allocate"),
      { sums: { unallocated: 400 }, ofDeposits: 301 },
      { ...tooLow, bookAccount: "unallocated", balanceCents: 99 },
    ],
    [
      "to return what belongs to a deposit",
      correct("returnUnallocated"),
      { sums: { unallocated: 400 }, ofDeposits: 301 },
      { ...tooLow, bookAccount: "unallocated", balanceCents: 99 },
    ],
    [
      "to book more than the book can hold",
      correct("bookReceipt"),
      { sums: { reserve: MAX_SUM_CENTS, unallocated: MAX_SUM_CENTS } },
      { reason: "LIMIT_EXCEEDED", accountId: undefined, limitCents: MAX_SUM_CENTS },
    ],
  ] as const) {
    it(`refuses ${what}`, () => {
      const decision = decide(bookWith(given), command);
      expect(decision.kind).to.equal("refusal");
      expect(decision).to.have.property("refusal").that.includes(facts);
    });
  }
});
