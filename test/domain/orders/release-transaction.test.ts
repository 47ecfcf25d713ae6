import { expect } from "chai";

import { WIDENS_ALONE } from "../../../src/domain/authority.js";
import { replay } from "../../../src/domain/decision.js";
import { NO_LIMITS } from "../../../src/domain/limits/limits.js";
import { counted, usageAt } from "../../../src/domain/limits/usage.js";
import { NEVER_DUE } from "../../../src/domain/payment.js";
import { type ApprovedPayoutFile, payoutMetadata } from "../../../src/domain/payout-file.js";
import type { Proposal } from "../../../src/domain/proposal.js";
import type { Transaction } from "../../../src/domain/transaction.js";
import type { Actor } from "../../../src/domain/values/actor.js";
import { toCents } from "../../../src/domain/values/cents.js";
import { by } from "../../support/commands.js";
import { asShown, decide, effectOf, expectRefused, putOf, wordOf } from "../../support/decided.js";
import {
  givenAccount,
  givenBook,
  givenHead,
  givenPayment,
  givenPending,
  givenTransaction,
} from "../../support/given.js";
import { EARLIER, newTransactionId, NOW, ORGANIZATION } from "../../support/names.js";
import { payFile } from "../../support/operations/payouts.js";
import { beginPayment, cancel, decideHeld, failPayment } from "../../support/operations/transactions.js";

const NAMES = ["releaseTransaction", "refuseTransaction"] as const;
const account = givenAccount({ openPayments: 1 });
const { sha256, rowsSha256, rail, rows, amountCents, leftOut } = payFile(ORGANIZATION);
const file: ApprovedPayoutFile = {
  organizationId: ORGANIZATION,
  sha256,
  rowsSha256,
  rail,
  rows,
  amountCents,
  leftOut,
  approvedAt: EARLIER,
  stoppedAt: undefined,
  approvedBy: "opr_a,opr_b" as Actor,
};

/** A redemption of 20.00 that is held. */
function held(given: Partial<Transaction> = {}) {
  const transaction = givenPending({
    accountId: account.id,
    type: "REDEEM",
    amountCents: toCents(2_000),
    heldFor: ["AMOUNT"],
    ...given,
  });
  const isOver = ["COMPLETED", "FAILED", "CANCELED"].includes(transaction.status);
  const payment = givenPayment(transaction, isOver ? { state: "ENDED", number: undefined } : { dueAt: NEVER_DUE });
  const book = givenBook({
    accounts: [account],
    transactions: [transaction],
    payments: [payment],
    payoutFiles: [file],
  });
  return { transaction, payment, book };
}

describe("releasing a redemption that is held", () => {
  it("makes its payment due at once, and moves no money", () => {
    const { transaction, payment, book } = held();
    const effect = effectOf(decide(book, decideHeld("releaseTransaction", ORGANIZATION, transaction.id)));
    expect(effect.entries).to.have.length(1);
    expect(effect.entries[0]).to.include({ kind: "transaction.released", posting: undefined, detail: undefined });
    expect(putOf(effect, "transactions")).to.deep.equal({ ...transaction, heldFor: [], updatedAt: NOW });
    expect(putOf(effect, "payments")).to.deep.equal({ ...payment, dueAt: NOW, updatedAt: NOW });
  });

  it("lets nobody ask its rail before, and lets time end it never", () => {
    const { transaction, book } = held();
    const refusal = { reason: "INVALID_TRANSITION", from: "PENDING" };
    expectRefused(decide(book, beginPayment(ORGANIZATION, transaction.id)), { ...refusal, to: "PROCESSING" });
    expectRefused(decide(book, failPayment(ORGANIZATION, transaction.id, "EXPIRED")), { ...refusal, to: "FAILED" });
  });
});

describe("refusing a redemption that is held", () => {
  it("fails it, and makes its KESC available again", () => {
    const { transaction, book } = held();
    const effect = effectOf(decide(book, decideHeld("refuseTransaction", ORGANIZATION, transaction.id)));
    const [entry] = effect.entries;
    expect(entry).to.include({ kind: "transaction.failed", detail: "REFUSED_BY_OPERATOR" });
    expect(entry?.posting).to.deep.equal({ debit: "held", credit: "available", amountCents: 2_000 });
    const failed = { status: "FAILED", failure: "REFUSED_BY_OPERATOR", heldFor: [] };
    expect(putOf(effect, "transactions")).to.deep.include(failed);
    expect(putOf(effect, "accounts")).to.include({ availableCents: 12_000, heldCents: 0, openPayments: 0 });
    expect(putOf(effect, "payments")).to.include({ state: "ENDED", number: undefined });
  });

  it("counts it no longer, for the account and for the organization", () => {
    const { transaction, payment } = held({ createdAt: NOW });
    const usage = counted(usageAt(undefined, NOW), transaction);
    const limits = { organization: NO_LIMITS, tiers: new Map(), since: EARLIER, usage };
    const book = givenBook({
      books: [givenHead({ limits })],
      accounts: [{ ...account, usage }],
      transactions: [transaction],
      payments: [payment],
    });
    const effect = effectOf(decide(book, decideHeld("refuseTransaction", ORGANIZATION, transaction.id)));
    expect([effect.limits?.usage?.day.REDEEM, putOf(effect, "accounts")?.usage?.day.REDEEM]).to.deep.equal([0, 0]);
  });

  it("is what its caller can do as well, by a cancellation", () => {
    const { transaction, book } = held();
    const effect = effectOf(decide(book, cancel(ORGANIZATION, transaction.id)));
    expect(putOf(effect, "transactions")).to.deep.include({ status: "CANCELED", heldFor: [] });
  });
});

describe("deciding about a redemption that the list holds", () => {
  for (const name of NAMES) {
    it(`takes two persons, neither of whom proposed its file (${name})`, () => {
      const { transaction, book } = held({ heldFor: ["AMOUNT", "LISTED"], metadata: payoutMetadata(sha256, 7) });
      const ask = (person: string) =>
        decide(book, { ...decideHeld(name, ORGANIZATION, transaction.id, { payoutFile: sha256 }), ...by(person) });
      expectRefused(ask("opr_a"), { reason: "OWN_PAYOUT", transactionId: transaction.id });
      const proposed = effectOf(ask("opr_b"));
      expect([putOf(proposed, "proposals")?.person, putOf(proposed, "transactions")]).to.deep.equal([
        "opr_b",
        undefined,
      ]);
      book.apply(proposed);
      expect(wordOf(ask("opr_b"))).to.equal("replay");
      expectRefused(ask("opr_a"), { reason: "OWN_PAYOUT", transactionId: transaction.id });
      expect(putOf(effectOf(ask("opr_c")), "transactions")?.heldFor).to.deep.equal([]);
    });
  }
});

describe("deciding about a redemption", () => {
  for (const [what, given, released, refused] of [
    ["that was released", { heldFor: [] }, "replay", "INVALID_TRANSITION"],
    ["that its rail has", { status: "PROCESSING", heldFor: [] }, "replay", "INVALID_TRANSITION"],
    ["that is paid", { status: "COMPLETED", heldFor: [] }, "replay", "TRANSACTION_ALREADY_ENDED"],
    [
      "that was canceled",
      { status: "CANCELED", heldFor: [] },
      "TRANSACTION_ALREADY_ENDED",
      "TRANSACTION_ALREADY_ENDED",
    ],
    [
      "that its rail refused",
      { status: "FAILED", failure: "WRONG_PIN", heldFor: [] },
      "TRANSACTION_ALREADY_ENDED",
      "TRANSACTION_ALREADY_ENDED",
    ],
    [
      "that was refused",
      { status: "FAILED", failure: "REFUSED_BY_OPERATOR", heldFor: [] },
      "TRANSACTION_ALREADY_ENDED",
      "replay",
    ],
  ] as const) {
    it(`says ${released} to a release and ${refused} to a refusal of one ${what}`, () => {
      const { transaction, book } = held(given);
      const [one, other] = NAMES.map((name) => decide(book, decideHeld(name, ORGANIZATION, transaction.id)));
      expect([one, other].map((decision) => decision && wordOf(decision))).to.deep.equal([released, refused]);
      if (released === "replay") expect(one).to.deep.equal(replay({ resource: transaction }));
    });
  }

  for (const name of NAMES) {
    it(`is not for the proposer of its file, but for the approver (${name})`, () => {
      const { transaction, book } = held({ metadata: payoutMetadata(sha256, 7) });
      const by = (person: string, payoutFile: string | undefined = sha256) =>
        decide(book, decideHeld(name, ORGANIZATION, transaction.id, { person, payoutFile }));
      expectRefused(by("opr_a"), { reason: "OWN_PAYOUT", transactionId: transaction.id });
      expectRefused(by("OPR_A"), { reason: "OWN_PAYOUT", transactionId: transaction.id });
      expect(wordOf(by("opr_b"))).to.equal("effect");
      // The command must name the file: otherwise nobody would look who has proposed it.
      expect(wordOf(decide(book, decideHeld(name, ORGANIZATION, transaction.id, { person: "opr_a" })))).to.equal(
        "TRANSACTION_NOT_FOUND",
      );
    });

    it(`takes the metadata of a key for what they are, if the book has no such file (${name})`, () => {
      const { transaction, book } = held({ metadata: payoutMetadata("f".repeat(64), 1) });
      const command = decideHeld(name, ORGANIZATION, transaction.id, { payoutFile: "f".repeat(64) });
      expect(wordOf(decide(book, command))).to.equal("effect");
    });

    it(`refuses what is not there, and what was given to no rail (${name})`, () => {
      expect(wordOf(decide({}, decideHeld(name, ORGANIZATION, newTransactionId())))).to.equal("TRANSACTION_NOT_FOUND");
      const direct = givenTransaction({ accountId: account.id });
      const book = givenBook({ accounts: [account], transactions: [direct] });
      expect(wordOf(decide(book, decideHeld(name, ORGANIZATION, direct.id)))).to.equal("PAYMENT_NOT_FOUND");
    });
  }
});

describe("deciding about a redemption that a check holds", () => {
  for (const name of NAMES) {
    for (const reason of ["CHECK", "CHECK_HELD"] as const) {
      it(`takes two persons under every policy (${name}, ${reason})`, () => {
        const { transaction, payment, book } = held({ heldFor: ["AMOUNT", reason] });
        const command = decideHeld(name, ORGANIZATION, transaction.id);
        const first = effectOf(decide(book, { ...command, ...by("opr_a", { groups: [WIDENS_ALONE] }) }));
        expect(first.entries.map(({ kind }) => kind)).to.deep.equal(["book.proposed"]);
        const proposal = putOf(first, "proposals") as Proposal;
        const rows = { accounts: [account], transactions: [transaction], payments: [payment], proposals: [proposal] };
        const approve = (person: string) =>
          decide(rows, {
            ...asShown(command, proposal.content),
            ...by(person, { groups: [WIDENS_ALONE], approves: proposal.id }),
          });
        expect(wordOf(approve("opr_a"))).to.equal("OWN_PROPOSAL");
        const { entries } = effectOf(approve("opr_b"));
        expect(entries[0]).to.include({ actor: "opr_a,opr_b" });
        expect(entries[0]?.kind).to.match(/released|failed/);
      });
    }

    it(`lets neither of them be who has proposed its file (${name})`, () => {
      const metadata = payoutMetadata(sha256, 7);
      const { transaction, payment } = held({ heldFor: ["CHECK_HELD"], metadata });
      const rows = { accounts: [account], transactions: [transaction], payments: [payment], payoutFiles: [file] };
      const command = decideHeld(name, ORGANIZATION, transaction.id, { payoutFile: sha256 });
      const refused = { reason: "OWN_PAYOUT", transactionId: transaction.id };
      expectRefused(decide(rows, { ...command, ...by("opr_a") }), refused);
      const proposal = putOf(effectOf(decide(rows, { ...command, ...by("opr_c") })), "proposals") as Proposal;
      const approval = { ...asShown(command, proposal.content), ...by("opr_a", { approves: proposal.id }) };
      expectRefused(decide({ ...rows, proposals: [proposal] }, approval), refused);
    });

    it(`takes one person where only an amount holds it (${name})`, () => {
      const { transaction, book } = held();
      const command = decideHeld(name, ORGANIZATION, transaction.id);
      expect(effectOf(decide(book, { ...command, ...by("opr_a") })).entries[0]?.kind).to.match(/released|failed/);
    });
  }
});
