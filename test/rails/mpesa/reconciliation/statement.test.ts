import { expect } from "chai";

import { STATEMENT } from "../../../../src/rails/mpesa/reconciliation/statement.js";
import type { ReadRow } from "../../../../src/rails/statement.js";

const PAY_IN = {
  "Receipt No.": "RKTQDM7W6S",
  "Completion Time": "22-11-2026 10:05:33",
  Details: "Pay Bill from 254708***149 - JOHN D Acc. 0K5N3QWXYZ12",
  "Transaction Status": "Completed",
  "Paid In": "1,500.00",
  Withdrawn: "",
  "Other Party Info": "254708***149 - JOHN D",
  "A/C No.": "0K5N3QWXYZ12",
};

function read(given: Partial<Record<string, string>> = {}): ReadRow {
  const cells: Partial<Record<string, string>> = { ...PAY_IN, ...given };
  return STATEMENT.readRow((column) => cells[column] ?? "");
}

describe("the statement of M-Pesa's portal", () => {
  it("reads shillings that came in", () => {
    expect(read()).to.deep.equal({
      kind: "row",
      row: {
        receipt: "RKTQDM7W6S",
        completedAt: Date.parse("2026-11-22T10:05:33+03:00"),
        direction: "in",
        amountCents: 150_000,
        isCharge: false,
        transactionId: undefined,
        idEnd: "0k5n3qwxyz12",
      },
    });
  });

  it("reads shillings that went out, with and without a minus, and the transaction that they name", () => {
    const id = "txn_01k5n3qwxyz12abcdefghjkmnp";
    const Details = `Business Payment to 254708***149 - JOHN D via API. Original conversation ID is ${id}.`;
    for (const Withdrawn of ["-300.00", "300"]) {
      const found = read({ "Paid In": "0.00", Withdrawn, Details, "A/C No.": "" });
      expect(found).to.deep.include({ kind: "row" });
      expect(found.kind === "row" && found.row).to.include({
        direction: "out",
        amountCents: 30_000,
        transactionId: id,
        idEnd: undefined,
      });
    }
  });

  const NOBODY = { "Other Party Info": "", "A/C No.": "" };
  for (const [what, given, isCharge] of [
    ["a charge by M-Pesa's words for it", { ...NOBODY, Details: "Business Payment Charge" }, true],
    ["a charge by its reason type", { ...NOBODY, Details: "Fee 7", "Reason Type": "Business Payment Charge" }, true],
    ["no charge where a person's name has the word", { ...NOBODY, Details: "Business Payment to BRIAN CHARGE" }, false],
    ["no charge where the remarks have the word", { ...NOBODY, Details: "Fuel and bus charge" }, false],
    [
      "no charge where the reason type is another",
      { ...NOBODY, Details: "Pay Bill Charge", "Reason Type": "Pay Bill" },
      false,
    ],
    ["no charge with a name", { Details: "Pay Bill Charge", "A/C No.": "" }, false],
    ["no charge with an account number", { Details: "Pay Bill Charge", ...NOBODY, "A/C No.": "bus charge" }, false],
  ] as const) {
    it(`knows ${what}`, () => {
      const found = read({ ...given, "Paid In": "", Withdrawn: "-22.40" });
      expect(found.kind === "row" && found.row).to.include({ isCharge, amountCents: 2_240 });
    });
  }

  it("reads the forms of a time", () => {
    for (const time of ["2026-11-22 10:05:00", "22/11/2026 10:05:00", "22-11-2026 10:05"]) {
      const found = read({ "Completion Time": time });
      expect(found.kind === "row" && found.row.completedAt, time).to.equal(Date.parse("2026-11-22T10:05:00+03:00"));
    }
  });

  it("passes over what is not completed", () => {
    for (const status of ["Declined", "Cancelled", "Pending", ""]) {
      expect(read({ "Transaction Status": status }).kind, status).to.equal("not_completed");
    }
  });

  it("names the column that it cannot read", () => {
    const bad = {
      "Receipt No.": "rk tq",
      "Completion Time": "yesterday",
      "Paid In": "12.345",
      Withdrawn: "about 5",
    };
    for (const [column, text] of Object.entries(bad)) {
      expect(read({ [column]: text }), column).to.deep.include({ kind: "bad", column });
    }
    expect(read({ Withdrawn: "5.00" })).to.deep.include({ kind: "bad", column: "Paid In" });
    expect(read({ "Paid In": "" })).to.deep.include({ kind: "bad", column: "Paid In" });
  });
});
