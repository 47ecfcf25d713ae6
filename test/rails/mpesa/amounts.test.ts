import { expect } from "chai";

import { readBalanceMessage } from "../../../src/rails/mpesa/balance.js";
import { readQuestion } from "../../../src/rails/mpesa/c2b.js";
import { readAmount } from "../../../src/rails/mpesa/messages.js";
import { signedAmount } from "../../../src/rails/written-amount.js";

describe("an amount of M-Pesa", () => {
  for (const [text, cents] of [
    ["1,700.00", 1_700_00],
    ["22,779.95", 22_779_95],
    ["1,000,000", 1_000_000_00],
    ["30.0", 30_00],
    ["7800", 7_800_00],
    [" 10.5 ", 10_50],
    ["-5.50", -5_50],
    ["(300.00)", -300_00],
    ["(1,053.00)", -1_053_00],
    ["0.00", undefined],
    ["-", undefined],
    ["", undefined],
    ["12,50", "bad"],
    ["1,00,000", "bad"],
    ["1.005", "bad"],
    ["1e3", "bad"],
    ["--5", "bad"],
    ["KES 5", "bad"],
  ] as const) {
    it(`reads "${text}" alike in a validation, a report, a balance and a statement`, () => {
      expect(signedAmount(text)).to.equal(cents);
      const moved = typeof cents === "number" && cents > 0 ? cents : undefined;
      expect(readAmount(text)).to.deep.equal({ isReadable: moved !== undefined, amountCents: moved });
      const question = JSON.stringify({ TransAmount: text, BillRefNumber: "23456789" });
      expect(readQuestion(question)).to.have.property("amountCents", moved);
      const parameter = { Key: "AccountBalance", Value: `Utility Account|KES|${text}|0|0|0` };
      const body = JSON.stringify({ Result: { ResultCode: 0, ResultParameters: { ResultParameter: [parameter] } } });
      const balance = readBalanceMessage({ purpose: "balance", body });
      const available = /\d/.test(text) && cents !== "bad" ? (cents ?? 0) : undefined;
      expect(balance?.kind === "told" ? balance.balance.accounts[0]?.availableCents : undefined).to.equal(available);
    });
  }
});
