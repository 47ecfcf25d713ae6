import { expect } from "chai";

import type { LedgerAccount } from "../../../src/domain/account.js";
import { replay } from "../../../src/domain/decision.js";
import type { Deposit } from "../../../src/domain/deposit.js";
import { NO_CENTS, toCents } from "../../../src/domain/values/cents.js";
import type { TransactionId } from "../../../src/domain/values/ids.js";
import { decide, effectOf, expectRefused, putOf, putsOf } from "../../support/decided.js";
import { givenAccount, givenBook, givenDeposit, givenHead, railAccount } from "../../support/given.js";
import { EARLIER, newDepositId, newTransactionId, NOW, ORGANIZATION, STRANGER } from "../../support/names.js";
import { assignDeposit, unassignDeposit } from "../../support/operations/deposits.js";

/** A deposit of 5.00 that an account has, which counts against limits. */
function given(account: Partial<LedgerAccount> = {}) {
  const own = givenAccount(account);
  const deposit = givenDeposit();
  const limits = { since: EARLIER, organization: { MINT: {}, REDEEM: {} }, tiers: new Map(), usage: undefined };
  const book = givenBook({
    railAccounts: [railAccount(ORGANIZATION)],
    accounts: [own],
    deposits: [deposit],
    books: [givenHead({ limits: limits })],
  });
  const command = assignDeposit(ORGANIZATION, deposit.id, own.id);
  book.apply(effectOf(decide(book, command)));
  return { book, own, depositId: deposit.id, mintId: command.facts.newTransactionId };
}

describe("taking the credit of a deposit back", () => {
  it("undoes the mint by a redemption, and gives the limits back", () => {
    const { book, own, depositId, mintId } = given();
    const mint = book.transaction(ORGANIZATION, mintId);
    const before = book.deposit(ORGANIZATION, depositId);
    const command = unassignDeposit(ORGANIZATION, depositId, mintId);
    const effect = effectOf(decide(book, command));
    const id = command.facts.newTransactionId;
    expect(effect.entries).to.have.length(1);
    expect(effect.entries[0]).to.deep.include({
      kind: "transaction.completed",
      transactionId: id,
      posting: { debit: "available", credit: "unallocated", amountCents: 500 },
      balancesAfter: { availableCents: 10_000, heldCents: 2_000 },
      receipt: undefined,
    });
    const [redemption, reversed] = putsOf(effect, "transactions");
    expect(redemption).to.deep.include({
      id,
      accountId: own.id,
      type: "REDEEM",
      status: "COMPLETED",
      reference: `kesc:reverse:${mintId}`,
      rail: mint?.rail,
      railReceipt: undefined,
      corrects: { kind: "REVERSAL", transactionId: mintId },
      depositId,
    });
    expect(reversed).to.deep.equal({ ...mint, reversedById: id });
    expect(putOf(effect, "deposits")).to.deep.equal({
      ...before,
      status: "UNALLOCATED",
      reason: "UNASSIGNED",
      accountId: undefined,
      transactionId: undefined,
      updatedAt: NOW,
    });
    expect(putOf(effect, "accounts")).to.have.nested.include({ "usage.day.MINT": 0, "usage.day.REDEEM": 0 });
    expect(effect.limits?.usage?.day.MINT).to.equal(0);
  });

  it("lets the deposit be assigned once more, under another reference, and taken back again", () => {
    const { book, own, depositId, mintId } = given();
    book.apply(effectOf(decide(book, unassignDeposit(ORGANIZATION, depositId, mintId))));
    const again = assignDeposit(ORGANIZATION, depositId, own.id);
    book.apply(effectOf(decide(book, again)));
    const { newTransactionId: secondId } = again.facts;
    expect(book.transaction(ORGANIZATION, secondId)?.reference).to.equal(`kesc:deposit:${depositId}:2`);
    // The first mint credits it no longer.
    expectRefused(decide(book, unassignDeposit(ORGANIZATION, depositId, mintId)), refusalFrom("CREDITED"));
    book.apply(effectOf(decide(book, unassignDeposit(ORGANIZATION, depositId, secondId))));
    expect(book.account(ORGANIZATION, own.id)?.availableCents).to.equal(10_000);
    expect(book.bookOf(ORGANIZATION).sums).to.include({ unallocated: 0, available: 0 });
  });

  it("is a replay for a deposit that is unallocated, whatever mint is named", () => {
    const { book, depositId, mintId } = given();
    book.apply(effectOf(decide(book, unassignDeposit(ORGANIZATION, depositId, mintId))));
    const resource = book.deposit(ORGANIZATION, depositId);
    const decision = decide(book, unassignDeposit(ORGANIZATION, depositId, mintId));
    expect(decision).to.deep.equal(replay({ resource }));
  });

  function refusalFrom(from: Deposit["status"]) {
    return { reason: "INVALID_TRANSITION", from, to: "UNALLOCATED" };
  }

  for (const [what, deposit, named] of [
    ["of a deposit that went back", { status: "RETURNED" }, undefined],
    ["of a deposit that the rail took back", { status: "REVERSED" }, undefined],
    [
      "that another mint has made by now",
      { status: "CREDITED", transactionId: newTransactionId() },
      newTransactionId(),
    ],
  ] as const) {
    it(`refuses to take a credit back ${what}`, () => {
      const row = givenDeposit({ reason: undefined, ...deposit });
      const command = unassignDeposit(ORGANIZATION, row.id, (named ?? "") as TransactionId);
      expectRefused(decide({ deposits: [row] }, command), refusalFrom(row.status));
    });
  }

  for (const organizationId of [undefined, STRANGER]) {
    it(`refuses a deposit that ${organizationId === undefined ? "is not there" : "is another organization's"}`, () => {
      const depositId = newDepositId();
      const deposits = organizationId === undefined ? [] : [givenDeposit({ id: depositId, organizationId })];
      const decision = decide({ deposits }, unassignDeposit(ORGANIZATION, depositId, newTransactionId()));
      expectRefused(decision, { reason: "DEPOSIT_NOT_FOUND", depositId });
    });
  }

  // The order of rows is the order of checks.
  for (const [reason, what, account] of [
    [
      "ACCOUNT_FROZEN",
      "a frozen account, before it looks at its balance",
      { status: "FROZEN", availableCents: NO_CENTS },
    ],
    ["INSUFFICIENT_FUNDS", "a cent more than is left", { availableCents: toCents(499) }],
  ] as const) {
    it(`refuses to take back ${what}: it never makes a shortfall`, () => {
      const { book, own, depositId, mintId } = given();
      const row = book.account(ORGANIZATION, own.id);
      book.apply({ entries: [], puts: [{ table: "accounts", row: { ...own, ...row, ...account } }] });
      const decision = decide(book, unassignDeposit(ORGANIZATION, depositId, mintId));
      expect(decision).to.have.nested.include({ kind: "refusal", "refusal.reason": reason });
    });
  }
});
