import { expect } from "chai";

import {
  attestedReceipt,
  chargeReceiptOf,
  isOfCharges,
  isReceiptOf,
  parseReceipt,
  parseReceiptText,
  receiptOf,
} from "../../src/domain/receipt.js";
import { DIRECT_RAIL, parseRail } from "../../src/domain/transaction.js";
import { RAILS } from "../../src/rails/rails.js";
import { valid } from "../support/names.js";

describe("a receipt that a caller gives", () => {
  for (const [source, number, stored] of [
    ["mpesa", "NLJ7RT61SV", "NLJ7RT61SV"],
    ["kcb-1234", "FT26330XK2", "kcb-1234:FT26330XK2"],
    ["kcb-1234", "a:b", "kcb-1234:a:b"],
    ["k".repeat(32), "~".repeat(64), `${"k".repeat(32)}:${"~".repeat(64)}`],
  ] as const) {
    it(`is ${stored} in the book, and reads back`, () => {
      const railReceipt = valid(parseReceipt({ source, number }));
      expect(railReceipt).to.equal(stored);
      expect(attestedReceipt({ rail: DIRECT_RAIL, railReceipt })).to.deep.equal({ source, number });
    });
  }

  for (const [source, number, key, code] of [
    ["", "NLJ7RT61SV", "source", "REQUIRED"],
    ["M-Pesa", "NLJ7RT61SV", "source", "FORMAT"],
    ["kcb:1", "1", "source", "FORMAT"],
    ["m-pesa", "NLJ7RT61SV", "source", "FORMAT"],
    ["safaricom-mpesa", "NLJ7RT61SV", "source", "FORMAT"],
    ["mpesa-paybill", "NLJ7RT61SV", "source", "FORMAT"],
    ["sand-b0x", "1", "source", "FORMAT"],
    ["charge", "NLJ7RT61SV", "source", "FORMAT"],
    ["direct", "NLJ7RT61SV", "source", "FORMAT"],
    ["sandbox", "NLJ 7", "number", "FORMAT"],
    ["sandbox", "sandbox:7", "number", "FORMAT"],
    ["k".repeat(33), "1", "source", "FORMAT"],
    ["mpesa", "", "number", "REQUIRED"],
    ["mpesa", "nlj7rt61sv", "number", "FORMAT"],
    ["mpesa", "NLJ7RT6", "number", "FORMAT"],
    ["kcb-1234", "", "number", "REQUIRED"],
    ["kcb-1234", "FT 26", "number", "FORMAT"],
    ["kcb-1234", "é", "number", "FORMAT"],
    ["kcb-1234", "1".repeat(65), "number", "FORMAT"],
  ] as const) {
    it(`is refused as "${source}" and "${number}"`, () => {
      expect(parseReceipt({ source, number })).to.include({ ok: false, key, code });
    });
  }

  it("is found by its text", () => {
    expect(parseReceiptText(`${"k".repeat(32)}:${"~".repeat(64)}`).ok).to.equal(true);
    for (const text of ["", "two words", "k".repeat(98), "charge:NLJ7RT61SV", "nlj7rt61sv", "direct:1", ":1", "kcb:"])
      expect(parseReceiptText(text).ok).to.equal(false);
  });

  for (const { name } of RAILS) {
    it(`has the text that the rail ${name} gives it, and no other rail can give it`, () => {
      const number = "NLJ7RT61SV";
      const reported = receiptOf(name, number);
      const attested = valid(parseReceipt({ source: name, number }));
      expect([reported, valid(parseReceiptText(attested))]).to.deep.equal([attested, attested]);
      expect(RAILS.filter((rail) => isReceiptOf(rail.name, attested)).map((rail) => rail.name)).to.deep.equal([name]);
    });
  }

  it("is told from the charges for a movement", () => {
    const movement = valid(parseReceipt({ source: "mpesa", number: "NLJ7RT61SV" }));
    expect([chargeReceiptOf(movement), movement].map(isOfCharges)).to.deep.equal([true, false]);
    expect(receiptOf("mpesa", undefined)).to.equal(undefined);
  });

  it("is none of what a rail has reported", () => {
    const railReceipt = valid(parseReceipt({ source: "mpesa", number: "NLJ7RT61SV" }));
    expect(attestedReceipt({ rail: valid(parseRail("mpesa")), railReceipt })).to.equal(undefined);
    expect(attestedReceipt({ rail: DIRECT_RAIL, railReceipt: undefined })).to.equal(undefined);
  });
});
