import { expect } from "chai";

import {
  creditReference,
  depositDetail,
  parseTypedReference,
  readDepositDetail,
  typedReferenceOf,
} from "../../src/domain/deposit.js";
import type { RailReceipt } from "../../src/domain/payment.js";
import type { TransactionId } from "../../src/domain/values/ids.js";
import { givenDeposit } from "../support/given.js";

describe("what a payer typed", () => {
  for (const [typed, taken] of [
    ["  Rent May ", "Rent May"],
    ["a\u0000b\nc", "abc"],
    ["x".repeat(65), "x".repeat(64)],
    ["ñandú 20-21", "ñandú 20-21"],
    ["\u202E", ""],
  ] as const) {
    it(`is taken as ${JSON.stringify(taken)} from ${JSON.stringify(typed)}`, () => {
      expect(typedReferenceOf(typed)).to.equal(taken);
    });
  }
});

describe("what the payer of a sandbox types", () => {
  for (const [typed, expected] of [
    ["Rent May", { ok: true, value: "Rent May" }],
    ["x".repeat(65), { ok: false, code: "TOO_LONG" }],
    [" Rent", { ok: false, code: "FORMAT" }],
    ["a\nb", { ok: false, code: "FORMAT" }],
  ] as const) {
    it(`is ${expected.ok ? "taken" : "refused"} as ${JSON.stringify(typed)}`, () => {
      expect(parseTypedReference(typed)).to.include(expected);
    });
  }
});

describe("a deposit", () => {
  const { id } = givenDeposit();

  it("names each credit by its number", () => {
    expect([0, 1].map((credits) => creditReference({ id, credits }))).to.deep.equal([
      `kesc:deposit:${id}:1`,
      `kesc:deposit:${id}:2`,
    ]);
  });

  it("is found again in the detail of its row, with the reason if there is one", () => {
    const receipt = "kcb:UKT3EICD00" as RailReceipt;
    const reason = "RECEIPT_ALREADY_USED";
    for (const row of [
      { id },
      { id, reason: "BY_HAND" },
      { id, reason, sameNumber: { receipt, id: "txn_1" as TransactionId } },
      { id, reason, sameNumber: { receipt, id: undefined } },
    ] as const) {
      const detail = depositDetail({ reason: undefined, sameNumber: undefined, ...row });
      expect(readDepositDetail(detail)).to.deep.equal(row);
    }
    // The row that received the deposit has said it.
    const later = { id, reason: "RETURN_FAILED", sameNumber: { receipt, id: undefined } } as const;
    expect(depositDetail(later)).to.equal(`${id} RETURN_FAILED`);
  });
});
