import { expect } from "chai";

import {
  type BankColumns,
  defaultForm,
  formFromText,
  formText,
  parseBankColumns,
  parsePlaceSource,
  parseReferencePattern,
} from "../../src/domain/statement-form.js";
import type { Parsed } from "../../src/domain/values/parsed.js";
import { formOf } from "../support/bank-files.js";

/** The value, or the problem with its code. */
function said(read: Parsed<unknown>): unknown {
  return read.ok ? read.value : `${read.code}: ${read.key === undefined ? "" : `${read.key} `}${read.problem}`;
}

describe("the form of a bank's statements", () => {
  for (const [place, given, expected] of [
    ["KCB 1234", "", "kcb-1234"],
    [" (Équity) ", "", "quity"],
    ["KCB", "ncba-7", "ncba-7"],
    ["ኬንያ", "", "REQUIRED: is required: the name of the place has no letter of a to z"],
    ["KCB", "KCB", "FORMAT: source must be 1 to 32 of a to z, 0 to 9 and -"],
    ["Mpesa", "", "RESERVED: must not be mpesa: that is a rail"],
    ["KCB", "direct", "FORMAT: source must not be direct: name whose statement has the number"],
    ["KCB", "operator", "RESERVED: must not be operator"],
    ["KCB", "webhooks", "RESERVED: must not be webhooks"],
  ] as const) {
    it(`has the source ${given === "" ? "of its place" : given} for ${place}: ${expected}`, () => {
      expect(said(parsePlaceSource(given, place))).to.equal(expected);
    });
  }

  const NEEDED = "REQUIRED: must name date, and amount or else debit and credit";
  for (const [columns, expected] of [
    [{}, undefined],
    [{ date: "", amount: "" }, undefined],
    [
      { amount: "Sum", date: "Day" },
      { date: "Day", amount: "Sum" },
    ],
    [
      { date: "Day", debit: "Out", credit: "In", text: "" },
      { date: "Day", debit: "Out", credit: "In" },
    ],
    [{ amount: "Sum" }, NEEDED],
    [{ date: "Day" }, NEEDED],
    [{ date: "Day", debit: "Out" }, NEEDED],
    [{ date: "Day", credit: "In" }, NEEDED],
    [{ date: "Day", amount: "Sum", debit: "Out" }, NEEDED],
    [{ date: "Day", amount: "Sum", credit: "In" }, NEEDED],
    [{ date: "Day", amount: " day" }, "FORMAT: amount must not begin or end with a space"],
    [{ date: "The Day", amount: "the  day" }, 'CONFLICT: must name each column once, and "the day" stands twice'],
    [{ date: "x".repeat(129), amount: "Sum" }, "TOO_LONG: date must have at most 128 characters"],
  ] as readonly (readonly [BankColumns, unknown])[]) {
    it(`takes or refuses the columns ${JSON.stringify(columns).slice(0, 60)}`, () => {
      expect(said(parseBankColumns(columns))).to.deep.equal(expected);
    });
  }

  it("has a pattern of at most 256 characters, or none", () => {
    expect(said(parseReferencePattern(""))).to.equal(undefined);
    expect(said(parseReferencePattern("FT(\\d+)"))).to.equal("FT(\\d+)");
    expect(said(parseReferencePattern("("))).to.equal("FORMAT: must be a regular expression such as FT[0-9A-Z]+");
    expect(said(parseReferencePattern("x".repeat(257)))).to.equal("TOO_LONG: must have at most 256 characters");
  });

  it("is by the name of a place until somebody says it", () => {
    expect(said(defaultForm("KCB 1234"))).to.deep.equal(formOf({ source: "kcb-1234" }));
    expect(said(defaultForm("Operator"))).to.equal("RESERVED: source must not be operator");
  });

  it("reads as it was written", () => {
    const whole = { account: "1", columns: { date: "D", amount: "A" }, dateOrder: "DAY_FIRST" } as const;
    for (const form of [formOf({}), formOf({ ...whole, referencePattern: "FT" })]) {
      expect(formFromText(formText(form))).to.deep.equal(form);
    }
  });
});
