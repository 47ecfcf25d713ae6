import { expect } from "chai";

import {
  type BusinessNumber,
  type MaskedNumber,
  parseAccountNumber,
  parsePaybill,
  parseTill,
  partsOf,
  paybillNumber,
  shownNumber,
} from "../../src/domain/destination.js";

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

  it("is shown to callers with a plus if it is a phone number", () => {
    expect(shownNumber("PHONE", "254******149" as MaskedNumber)).to.equal("+254******149");
    expect(shownNumber("TILL", "****321" as MaskedNumber)).to.equal("****321");
  });
});
