import { expect } from "chai";

import { replay } from "../../../src/domain/decision.js";
import { parseThroughRail } from "../../../src/domain/deposits/return-deposit.js";
import type { RailAccountId } from "../../../src/domain/payment.js";
import { DIRECT_RAIL } from "../../../src/domain/transaction.js";
import { parsed, unparsed } from "../../../src/domain/values/parsed.js";
import { decide, effectOf, expectRefused } from "../../support/decided.js";
import { givenBook, givenDeposit, railAccount } from "../../support/given.js";
import { newDepositId, NOW, ORGANIZATION, receiptNamed } from "../../support/names.js";
import { returnDeposit, returnThroughRail } from "../../support/operations/deposits.js";

const railAccounts = [railAccount(ORGANIZATION)];

describe("returning a deposit", () => {
  it("books that the shillings went back, with the receipt of the return", () => {
    const deposit = givenDeposit();
    const command = returnDeposit(ORGANIZATION, deposit.id);
    const effect = effectOf(decide({ railAccounts, deposits: [deposit] }, command));
    expect(effect.entries).to.have.length(1);
    expect(effect.entries[0]).to.deep.include({
      kind: "deposit.returned",
      accountId: undefined,
      posting: { debit: "unallocated", credit: "reserve", amountCents: 500 },
      receipt: "back1",
      detail: deposit.id,
    });
    const row = { ...deposit, status: "RETURNED", reason: undefined, updatedAt: NOW };
    expect(effect.puts).to.deep.equal([{ table: "deposits", row }]);
  });

  it("is a replay for a deposit that went back, whatever receipt is given", () => {
    const deposit = givenDeposit({ status: "RETURNED", reason: undefined });
    const command = returnDeposit(ORGANIZATION, deposit.id, "another");
    const decision = decide({ railAccounts, deposits: [deposit] }, command);
    expect(decision).to.deep.equal(replay({ resource: deposit }));
  });

  it("notes that the rail will be asked, without a posting", () => {
    const deposit = givenDeposit();
    const command = returnThroughRail(ORGANIZATION, deposit.id);
    const effect = effectOf(decide({ railAccounts, deposits: [deposit] }, command));
    expect(effect.entries).to.have.length(1);
    expect(effect.entries[0]).to.deep.include({
      kind: "deposit.returning",
      accountId: undefined,
      posting: undefined,
      receipt: undefined,
      detail: deposit.id,
    });
    const row = { ...deposit, status: "RETURNING", reason: undefined, updatedAt: NOW };
    expect(effect.puts).to.deep.equal([{ table: "deposits", row }]);
  });

  it("asks only a rail that returns payments", () => {
    expect(parseThroughRail(DIRECT_RAIL, true)).to.deep.equal(parsed(true));
    expect(parseThroughRail(DIRECT_RAIL, false)).to.deep.equal(
      unparsed("must be false: the rail direct returns no payments"),
    );
  });

  for (const status of ["RETURNING", "RETURNED"] as const) {
    it(`is a replay if the rail is wanted for a deposit that is ${status}`, () => {
      const deposit = givenDeposit({ status, reason: undefined });
      const decision = decide({ railAccounts, deposits: [deposit] }, returnThroughRail(ORGANIZATION, deposit.id));
      expect(decision).to.deep.equal(replay({ resource: deposit }));
    });
  }

  it("asks no rail for a deposit that none has reported, or whose account is gone", () => {
    for (const given of [{ railAccountId: undefined, rail: DIRECT_RAIL }, { railAccountId: "gone" as RailAccountId }]) {
      const deposit = givenDeposit(given);
      const decision = decide({ railAccounts, deposits: [deposit] }, returnThroughRail(ORGANIZATION, deposit.id));
      const refusal = { reason: "RAIL_ACCOUNT_NOT_FOUND", rail: deposit.rail };
      expectRefused(decision, refusal);
    }
  });

  // The order of rows is the order of checks.
  const used = { organizationId: ORGANIZATION, receipt: receiptNamed("d1"), transactionId: undefined };
  const open = givenDeposit();
  const [credited, reversed] = [givenDeposit({ status: "CREDITED" }), givenDeposit({ status: "REVERSED" })];
  const returning = givenDeposit({ status: "RETURNING" });
  const depositId = newDepositId();
  for (const [id, refusal] of [
    [depositId, { reason: "DEPOSIT_NOT_FOUND", depositId }],
    [credited.id, { reason: "INVALID_TRANSITION", from: "CREDITED", to: "RETURNED" }],
    [reversed.id, { reason: "INVALID_TRANSITION", from: "REVERSED", to: "RETURNED" }],
    [returning.id, { reason: "INVALID_TRANSITION", from: "RETURNING", to: "RETURNED" }],
    [open.id, { reason: "RECEIPT_ALREADY_USED", receipt: "d1", transactionId: undefined, depositId: open.id }],
  ] as const) {
    it(`refuses with ${refusal.reason}`, () => {
      const deposits = [credited, reversed, returning, open];
      const book = givenBook({ railAccounts, deposits, receipts: [{ ...used, depositId: open.id }] });
      const decision = decide(book, returnDeposit(ORGANIZATION, id, "d1"));
      expectRefused(decision, refusal);
    });
  }
});
