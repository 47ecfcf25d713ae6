import { expect } from "chai";

import {
  bankAccountOf,
  bankNumber,
  type BusinessNumber,
  differsFromLabel,
  type MaskedNumber,
  maskNumber,
  parseAccountNumber,
  parseBankAccount,
  parseBankCode,
  parseBranchCode,
  parseHolder,
  parsePaybill,
  parseTill,
  partsOf,
  paybillNumber,
  type RailName,
  railNameOf,
  shownNumber,
} from "../../src/domain/destination.js";
import type { Description } from "../../src/domain/values/text.js";

describe("the number of a destination", () => {
  for (const [name, parse, unit] of [
    ["till", parseTill, "a till number"],
    ["paybill", parsePaybill, "a paybill number"],
  ] as const) {
    it(`of a ${name} has 5 to 7 digits`, () => {
      for (const good of ["54323", "5432321"]) expect(parse(good)).to.deep.equal({ ok: true, value: good });
      for (const bad of ["5432", "54323210", "54 323", "54323a", "٥٤٣٢٣"]) {
        expect(parse(bad)).to.deep.include({ code: "FORMAT", problem: `must be the 5 to 7 digits of ${unit}` });
      }
      expect(parse("")).to.deep.include({ code: "REQUIRED" });
    });
  }

  it("has an account number of 1 to 13 printable characters without spaces", () => {
    for (const good of ["1", "A-17/b", "0123456789012"]) {
      expect(parseAccountNumber(good)).to.deep.equal({ ok: true, value: good });
    }
    for (const bad of ["a b", "01234567890123", "é"]) {
      expect(parseAccountNumber(bad)).to.deep.include({ code: "FORMAT" });
    }
    expect(parseAccountNumber("")).to.deep.include({ code: "REQUIRED" });
  });

  it("of a paybill is joined with the account number, and split again", () => {
    const joined = paybillNumber("247247" as BusinessNumber, "0123");
    expect(partsOf(joined)).to.deep.equal({ business: "247247", accountNumber: "0123" });
    expect(partsOf("5432321" as BusinessNumber)).to.deep.equal({ business: "5432321" });
  });

  for (const [what, parse, good, bad, code] of [
    ["a bank of Kenya", parseBankCode, ["01", "68"], ["1", "04", "99", "KCB"], "UNKNOWN_VALUE"],
    ["a branch", parseBranchCode, ["000", "175"], ["75", "01175", "abc"], "FORMAT"],
    ["an account", parseBankAccount, ["1234", "1".repeat(34)], ["123", "1".repeat(35), "12 34", "12-34"], "FORMAT"],
    [
      "a holder",
      parseHolder,
      ["Jane Doe", "A & B (1990) Ltd.", "x".repeat(70)],
      ["-Jane", " Jane", "Jane  Doe", "Jané", "=cmd", "Jane<", "Jane "],
      "FORMAT",
    ],
  ] as const) {
    it(`has ${what} as banks write it`, () => {
      for (const each of good) expect(parse(each), each).to.deep.equal({ ok: true, value: each });
      for (const each of bad) expect(parse(each), each).to.deep.include({ code });
      expect(parse("")).to.deep.include({ code: "REQUIRED" });
    });
  }

  it("has a holder of at most 70 characters", () => {
    expect(parseHolder("x".repeat(71))).to.deep.include({ code: "TOO_LONG" });
  });

  it("of a bank account is joined and split again, and hides the account and its holder", () => {
    const account = { bankCode: "01", branchCode: "175", account: "1104567890", holder: "Jane W Doe" };
    const joined = bankNumber(account);
    expect(bankAccountOf(joined)).to.deep.equal(account);
    expect(maskNumber("BANK", joined)).to.equal("01175 *******890");
  });

  it("is shown to callers with a plus if it is a phone number", () => {
    expect(shownNumber("PHONE", "254******149" as MaskedNumber)).to.equal("+254******149");
    expect(shownNumber("TILL", "****321" as MaskedNumber)).to.equal("****321");
  });
});

describe("the name that a rail has for a destination", () => {
  for (const [told, name] of [
    ["NAIVAS LTD", "NAIVAS LTD"],
    ["  Mama\tMboga\n Shop\u2028\u202e ", "Mama Mboga Shop"],
    ["x".repeat(100), "x".repeat(100)],
    ["x".repeat(101), undefined],
    [" \n\0 ", undefined],
  ] as const) {
    it(`is one line: ${JSON.stringify(told.slice(0, 20))}`, () => {
      expect(railNameOf(told)).to.equal(name);
    });
  }

  for (const [label, railName, differs] of [
    ["Naivas Ltd.", "NAIVAS LTD", false],
    ["naivas (ltd)", "Naivas, Ltd", false],
    ["Jane Wanjiku Doe", "JANE W****** D**", false],
    ["ＮＡＩＶＡＳ", "naivas", false],
    ["rent", "NAIVAS LTD", true],
    ["Naivas", "NAIVAS LTD", true],
    ["Jane Wanjiku Doe", "JANE K****** D**", true],
    ["Jane", "JANET", true],
    ["...", "NAIVAS", true],
    ["", "NAIVAS", undefined],
    ["rent", undefined, undefined],
  ] as const) {
    it(`differs from the label "${label}": "${String(railName)}": ${String(differs)}`, () => {
      expect(differsFromLabel(label as Description, railName as RailName | undefined)).to.equal(differs);
    });
  }
});
