import { expect } from "chai";

import { replay } from "../../../src/domain/decision.js";
import { NO_LIMITS } from "../../../src/domain/limits/limits.js";
import { counted, usageAt } from "../../../src/domain/limits/usage.js";
import { type HoldReason, NEVER_DUE } from "../../../src/domain/payment.js";
import type { CheckAnswer, CheckCode, NoAnswer } from "../../../src/domain/payout-check.js";
import type { Transaction } from "../../../src/domain/transaction.js";
import { toCents } from "../../../src/domain/values/cents.js";
import { toUnixMillis } from "../../../src/domain/values/time.js";
import type { Loaded } from "../../../src/ledger/ports/store.js";
import { decide, effectOf, putOf, wordOf } from "../../support/decided.js";
import {
  givenAccount,
  givenBook,
  givenHead,
  givenPayment,
  givenPending,
  givenTransaction,
} from "../../support/given.js";
import { EARLIER, newTransactionId, NOW, ORGANIZATION } from "../../support/names.js";
import { STANDING_CHECK } from "../../support/operations/payouts.js";
import { decideCheck } from "../../support/operations/transactions.js";

const account = givenAccount({ openPayments: 1 });
const CODE = "ON_A_LIST" as CheckCode;
const SHA256 = "e".repeat(64);

/** A redemption of 20.00 that waits. */
function waiting(heldFor: readonly HoldReason[] = ["CHECK"], given: Partial<Transaction> = {}) {
  const amountCents = toCents(2_000);
  const transaction = givenPending({ accountId: account.id, type: "REDEEM", amountCents, heldFor, ...given });
  const payment = givenPayment(transaction, { dueAt: NEVER_DUE });
  return { transaction, payment, rows: { accounts: [account], transactions: [transaction], payments: [payment] } };
}

/** The rows of a decision: the kind and the detail of each. */
function rowsOf(
  rows: Partial<Loaded>,
  id: Transaction["id"],
  answer: CheckAnswer,
  code: CheckCode | undefined = CODE,
): readonly (readonly [string, string | undefined])[] {
  const effect = effectOf(decide(rows, decideCheck(ORGANIZATION, id, { answer, code })));
  return effect.entries.map(({ kind, detail }) => [kind, detail]);
}

describe("the answer of a check", () => {
  it("allow lets the redemption go at once, and moves no money", () => {
    const { transaction, payment, rows } = waiting();
    const clock = toUnixMillis(NOW - 5);
    const effect = effectOf(decide(rows, decideCheck(ORGANIZATION, transaction.id), NOW, clock));
    expect(effect.entries.map(({ kind, detail }) => [kind, detail])).to.deep.equal([
      ["transaction.checked", `ALLOW ALLOW - ${SHA256}`],
      ["transaction.released", undefined],
    ]);
    expect(effect.entries.map(({ posting, actor }) => [posting, actor])).to.deep.equal([
      [undefined, "checks"],
      [undefined, "checks"],
    ]);
    expect(putOf(effect, "transactions")).to.deep.equal({ ...transaction, heldFor: [], updatedAt: NOW });
    expect(putOf(effect, "payments")).to.deep.equal({ ...payment, dueAt: clock, aheadMillis: 5, updatedAt: NOW });
  });

  it("allow leaves what waits for a person as well, for one person", () => {
    const { transaction, rows } = waiting(["AMOUNT", "CHECK"]);
    const effect = effectOf(decide(rows, decideCheck(ORGANIZATION, transaction.id)));
    expect(effect.entries[1]).to.include({ kind: "transaction.held", detail: "AMOUNT" });
    expect(putOf(effect, "transactions")?.heldFor).to.deep.equal(["AMOUNT"]);
    expect(putOf(effect, "payments")).to.equal(undefined);
  });

  it("hold leaves the redemption to persons, with its other reasons", () => {
    const { transaction, rows } = waiting(["AMOUNT", "CHECK"]);
    expect(rowsOf(rows, transaction.id, "HOLD")).to.deep.equal([
      ["transaction.checked", `HOLD HOLD ON_A_LIST ${SHA256}`],
      ["transaction.held", "AMOUNT,CHECK_HELD"],
    ]);
  });

  it("deny fails the redemption with the code, and makes its KESC available again", () => {
    const { transaction, rows } = waiting(["AMOUNT", "CHECK"]);
    const effect = effectOf(decide(rows, decideCheck(ORGANIZATION, transaction.id, { answer: "DENY", code: CODE })));
    const [checked, end] = effect.entries;
    expect(checked).to.include({ kind: "transaction.checked", detail: `DENY DENY ON_A_LIST ${SHA256}` });
    expect(end).to.include({ kind: "transaction.failed", detail: "CHECK_DENIED", reason: CODE });
    expect(end?.posting).to.deep.equal({ debit: "held", credit: "available", amountCents: 2_000 });
    const failed = { status: "FAILED", failure: "CHECK_DENIED", statusReason: CODE, heldFor: [] };
    expect(putOf(effect, "transactions")).to.deep.include(failed);
    expect(putOf(effect, "accounts")).to.include({ availableCents: 12_000, heldCents: 0, openPayments: 0 });
    expect(putOf(effect, "payments")).to.include({ state: "ENDED", number: undefined });
  });

  it("deny without a code fails it without one, and counts it no longer", () => {
    const { transaction, payment } = waiting(["CHECK"], { createdAt: NOW });
    const usage = counted(usageAt(undefined, NOW), transaction);
    const limits = { organization: NO_LIMITS, tiers: new Map(), since: EARLIER, usage };
    const book = givenBook({
      books: [givenHead({ limits })],
      accounts: [{ ...account, usage }],
      transactions: [transaction],
      payments: [payment],
    });
    const effect = effectOf(decide(book, decideCheck(ORGANIZATION, transaction.id, { answer: "DENY" })));
    expect(putOf(effect, "transactions")?.statusReason).to.equal("");
    expect([effect.limits?.usage?.day.REDEEM, putOf(effect, "accounts")?.usage?.day.REDEEM]).to.deep.equal([0, 0]);
  });

  for (const [noAnswer, kind, detail] of [
    ["HOLD", "transaction.held", "CHECK_HELD"],
    ["ALLOW", "transaction.released", undefined],
  ] as const satisfies readonly (readonly [NoAnswer, string, string | undefined])[]) {
    it(`is ${noAnswer} without one, if the check says so`, () => {
      const { transaction, rows } = waiting();
      const checked = { ...rows, payoutChecks: [{ ...STANDING_CHECK, noAnswer }] };
      const command = { answer: "NO_ANSWER", code: undefined, exchangeSha256: undefined } as const;
      const effect = effectOf(decide(checked, decideCheck(ORGANIZATION, transaction.id, command)));
      expect(effect.entries.map((entry) => [entry.kind, entry.detail])).to.deep.equal([
        ["transaction.checked", `NO_ANSWER ${noAnswer} - -`],
        [kind, detail],
      ]);
    });
  }

  it("is hold without one once the check is cleared", () => {
    const { transaction, rows } = waiting();
    expect(rowsOf(rows, transaction.id, "NO_ANSWER", undefined)[1]).to.deep.equal(["transaction.held", "CHECK_HELD"]);
  });

  it("counts once: a second one, whatever it is, is a replay", () => {
    const { transaction, rows } = waiting();
    for (const first of ["ALLOW", "HOLD", "DENY"] as const) {
      const book = givenBook(rows);
      book.apply(effectOf(decide(book, decideCheck(ORGANIZATION, transaction.id, { answer: first }))));
      const after = book.transaction(ORGANIZATION, transaction.id) as Transaction;
      for (const answer of ["ALLOW", "HOLD", "DENY", "NO_ANSWER"] as const) {
        const again = decide(book, decideCheck(ORGANIZATION, transaction.id, { answer }));
        expect(again, `${answer} after ${first}`).to.deep.equal(replay(after));
      }
    }
  });

  it("decides nothing about a redemption that waits for a person alone, or has ended", () => {
    for (const given of [
      { heldFor: ["AMOUNT"] },
      { heldFor: ["CHECK_HELD"] },
      { heldFor: [], status: "PROCESSING" },
      { heldFor: [], status: "CANCELED" },
    ] as const) {
      const { transaction, rows } = waiting(given.heldFor, given);
      expect(wordOf(decide(rows, decideCheck(ORGANIZATION, transaction.id)))).to.equal("replay");
    }
  });

  it("is refused for what is not there, and for what was given to no rail", () => {
    expect(wordOf(decide({}, decideCheck(ORGANIZATION, newTransactionId())))).to.equal("TRANSACTION_NOT_FOUND");
    const direct = givenTransaction({ accountId: account.id });
    const rows = { accounts: [account], transactions: [direct] };
    expect(wordOf(decide(rows, decideCheck(ORGANIZATION, direct.id)))).to.equal("PAYMENT_NOT_FOUND");
  });
});
