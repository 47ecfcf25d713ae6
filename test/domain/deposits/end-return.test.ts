import { expect } from "chai";

import { replay } from "../../../src/domain/decision.js";
import { decide, effectOf, expectRefused } from "../../support/decided.js";
import { givenBook, givenDeposit } from "../../support/given.js";
import { EARLIER, newDepositId, NOW, ORGANIZATION, receiptNamed } from "../../support/names.js";
import { endReturn } from "../../support/operations/deposits.js";

const returning = givenDeposit({ status: "RETURNING", reason: undefined });

describe("ending a return that the rail was asked for", () => {
  for (const [what, receipt, kind, posting, status, reason, detail] of [
    [
      "books what the rail has returned, with its receipt",
      "back1",
      "deposit.returned",
      { debit: "unallocated", credit: "reserve", amountCents: 500 },
      "RETURNED",
      undefined,
      returning.id,
    ],
    [
      "lets a deposit wait again that the rail does not return",
      undefined,
      "deposit.return_failed",
      undefined,
      "UNALLOCATED",
      "RETURN_FAILED",
      `${returning.id} RETURN_FAILED`,
    ],
  ] as const) {
    it(what, () => {
      const effect = effectOf(decide({ deposits: [returning] }, endReturn(returning, receipt)));
      expect(effect.entries).to.have.length(1);
      expect(effect.entries[0]).to.deep.include({ kind, posting, receipt, detail });
      const row = { ...returning, status, reason, updatedAt: NOW };
      expect(effect.puts).to.deep.equal([{ table: "deposits", row }]);
    });
  }

  for (const [what, status, receipt] of [
    ["a success of what is RETURNED", "RETURNED", "back1"],
    ["a refusal of what is UNALLOCATED again", "UNALLOCATED", undefined],
  ] as const) {
    it(`is a replay: ${what}`, () => {
      const deposit = givenDeposit({ status });
      const decision = decide({ deposits: [deposit] }, endReturn(deposit, receipt));
      expect(decision).to.deep.equal(replay(deposit));
    });
  }

  // The order of rows is the order of checks.
  for (const [what, deposit, command, refusal] of [
    [
      "a deposit that is not there",
      givenDeposit({ id: newDepositId() }),
      endReturn(returning, "d1"),
      { reason: "DEPOSIT_NOT_FOUND", depositId: returning.id },
    ],
    [
      "a deposit that an account has",
      { ...returning, status: "CREDITED" },
      endReturn(returning, "d1"),
      { reason: "INVALID_TRANSITION", from: "CREDITED", to: "RETURNED" },
    ],
    [
      "a refusal of an earlier return",
      { ...returning, updatedAt: NOW },
      endReturn({ ...returning, updatedAt: EARLIER }),
      { reason: "INVALID_TRANSITION", from: "RETURNING", to: "UNALLOCATED" },
    ],
    [
      "a receipt of the book",
      returning,
      endReturn(returning, "d1"),
      { reason: "RECEIPT_ALREADY_USED", receipt: "d1", transactionId: undefined, depositId: returning.id },
    ],
  ] as const) {
    it(`refuses ${what}: ${refusal.reason}`, () => {
      const used = { organizationId: ORGANIZATION, receipt: receiptNamed("d1"), transactionId: undefined };
      const book = givenBook({ deposits: [deposit], receipts: [{ ...used, depositId: returning.id }] });
      expectRefused(decide(book, command), refusal);
    });
  }
});
