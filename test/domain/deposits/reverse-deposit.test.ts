import { expect } from "chai";

import type { LedgerAccount } from "../../../src/domain/account.js";
import { replay } from "../../../src/domain/decision.js";
import { NO_CENTS, toCents } from "../../../src/domain/values/cents.js";
import { decide, effectOf, putOf, putsOf, wordOf } from "../../support/decided.js";
import { givenAccount, givenBook, givenDeposit, givenTransaction, railAccount } from "../../support/given.js";
import { newDepositId, newTransactionId, NOW, ORGANIZATION, receiptNamed } from "../../support/names.js";
import { reverseDeposit } from "../../support/operations/deposits.js";

/** A deposit of 5.00 that an account has. */
function given(account: Partial<LedgerAccount> = {}) {
  const own = givenAccount(account);
  const transactionId = newTransactionId();
  const credit = { status: "CREDITED", reason: undefined, accountId: own.id, transactionId, credits: 1 } as const;
  const deposit = givenDeposit(credit);
  const mint = givenTransaction({
    id: transactionId,
    accountId: own.id,
    amountCents: deposit.amountCents,
    rail: deposit.rail,
    depositId: deposit.id,
  });
  const rows = {
    railAccounts: [railAccount(ORGANIZATION)],
    accounts: [own],
    deposits: [deposit],
    transactions: [mint],
  };
  return { deposit, mint, rows, command: reverseDeposit(ORGANIZATION, deposit.id, { transactionId }) };
}

describe("reversing a deposit", () => {
  it("books that the rail took back what belonged to nobody", () => {
    const deposit = givenDeposit();
    const book = givenBook({ railAccounts: [railAccount(ORGANIZATION)], deposits: [deposit] });
    const effect = effectOf(decide(book, reverseDeposit(ORGANIZATION, deposit.id)));
    expect(effect.entries).to.have.length(1);
    expect(effect.entries[0]).to.deep.include({
      kind: "deposit.reversed",
      posting: { debit: "unallocated", credit: "reserve", amountCents: 500 },
      receipt: "back1",
      detail: deposit.id,
    });
    const row = { ...deposit, status: "REVERSED", reason: undefined, updatedAt: NOW };
    expect(effect.puts).to.deep.equal([{ table: "deposits", row }]);
  });

  it("is the return that the rail was asked for", () => {
    const deposit = givenDeposit({ status: "RETURNING", reason: undefined });
    const book = givenBook({ railAccounts: [railAccount(ORGANIZATION)], deposits: [deposit] });
    const effect = effectOf(decide(book, reverseDeposit(ORGANIZATION, deposit.id)));
    expect(effect.entries[0]).to.deep.include({ kind: "deposit.returned", receipt: "back1" });
    expect(putOf(effect, "deposits")?.status).to.equal("RETURNED");
  });

  it("is a replay for a deposit that went back with the same receipt", () => {
    const deposit = givenDeposit({ status: "RETURNED", reason: undefined });
    const receipts = [deposit.receipt, receiptNamed("back1")].map((receipt) => ({
      organizationId: ORGANIZATION,
      receipt,
      transactionId: undefined,
      depositId: deposit.id,
    }));
    const book = givenBook({ railAccounts: [railAccount(ORGANIZATION)], deposits: [deposit], receipts });
    const reverseWith = (receipt: string) => decide(book, reverseDeposit(ORGANIZATION, deposit.id, { receipt }));
    expect(reverseWith("back1")).to.deep.equal(replay({ resource: deposit }));
    expect([reverseWith("d1"), reverseWith("other")].map(wordOf)).to.deep.equal([
      "INVALID_TRANSITION",
      "INVALID_TRANSITION",
    ]);
  });

  it("takes the number of the deposit under another source: that of no second movement (docs/deposits.md)", () => {
    const deposit = givenDeposit({ receipt: receiptNamed("SKQ7XH2M4P") });
    const { receipt, id: depositId } = deposit;
    const receipts = [{ organizationId: ORGANIZATION, receipt, transactionId: undefined, depositId }];
    const book = givenBook({ railAccounts: [railAccount(ORGANIZATION)], deposits: [deposit], receipts });
    const twin = reverseDeposit(ORGANIZATION, deposit.id, { receipt: "twin:SKQ7XH2M4P" });
    expect(putOf(effectOf(decide(book, twin)), "deposits")?.status).to.equal("REVERSED");
  });

  for (const [what, account, posting, left] of [
    ["takes it from the account that has it", {}, "available", 9_500],
    ["takes it from a frozen account, too", { status: "FROZEN" }, "available", 9_500],
    ["takes the last cent", { availableCents: toCents(500) }, "available", 0],
    ["makes a shortfall if a cent of it is spent", { availableCents: toCents(499) }, "shortfall", 499],
    [
      "makes a shortfall if the account is closed",
      { status: "CLOSED", availableCents: NO_CENTS, heldCents: NO_CENTS },
      "shortfall",
      0,
    ],
  ] as const) {
    it(what, () => {
      const { deposit, mint, rows, command } = given(account);
      const effect = effectOf(decide(rows, command));
      const id = command.facts.newTransactionId;
      expect(effect.entries).to.have.length(1);
      expect(effect.entries[0]).to.deep.include({
        kind: "transaction.completed",
        transactionId: id,
        posting: { debit: posting, credit: "reserve", amountCents: 500 },
        receipt: "back1",
      });
      expect(effect.entries[0]?.balancesAfter?.availableCents).to.equal(left);
      const [redemption, reversed] = putsOf(effect, "transactions");
      expect(redemption).to.deep.include({
        type: "REDEEM",
        status: "COMPLETED",
        railReceipt: "back1",
        corrects: { kind: "REVERSAL", transactionId: mint.id },
        depositId: deposit.id,
        availableAfterCents: left,
      });
      expect(reversed).to.deep.equal({ ...mint, reversedById: id });
      // The row still says which account had the shillings.
      const row = { ...deposit, status: "REVERSED", reason: undefined, updatedAt: NOW };
      expect(putOf(effect, "deposits")).to.deep.equal(row);
      expect(putOf(effect, "accounts")?.availableCents).to.equal(left);
    });
  }

  it("is a replay for a deposit that the rail took back, whatever receipt and mint are given", () => {
    const { deposit, rows } = given();
    const reversed = { ...deposit, status: "REVERSED" } as const;
    const command = reverseDeposit(ORGANIZATION, deposit.id, { receipt: "another" });
    const decision = decide({ ...rows, deposits: [reversed] }, command);
    expect(decision).to.deep.equal(replay({ resource: reversed }));
  });

  // The order of rows is the order of checks.
  const used = { organizationId: ORGANIZATION, receipt: receiptNamed("back1"), transactionId: undefined };
  for (const [reason, what, change, transactionId] of [
    ["DEPOSIT_NOT_FOUND", "a deposit that is not there", { id: newDepositId() }, undefined],
    ["INVALID_TRANSITION", "a deposit that went back", { status: "RETURNED" }, undefined],
    ["INVALID_TRANSITION", "a deposit that is credited, without its mint", {}, undefined],
    ["INVALID_TRANSITION", "a deposit that another mint credits by now", {}, newTransactionId()],
    ["RECEIPT_ALREADY_USED", "a receipt of the book", { status: "UNALLOCATED" }, undefined],
  ] as const) {
    it(`refuses ${what}: ${reason}`, () => {
      const { deposit, rows } = given();
      const deposits = [{ ...deposit, ...change }];
      const receipts = [{ ...used, depositId: newDepositId() }];
      const command = reverseDeposit(ORGANIZATION, deposit.id, { transactionId });
      expect(wordOf(decide({ ...rows, deposits, receipts }, command))).to.equal(reason);
    });
  }
});
