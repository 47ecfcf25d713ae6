import { expect } from "chai";

import { parseRailReceipt } from "../../src/domain/payment.js";

describe("parseRailReceipt", () => {
  for (const receipt of ["RKTQDM7W01", "a", "x".repeat(64)]) {
    it(`takes ${receipt}`, () => {
      expect(parseRailReceipt(receipt)).to.deep.equal({ ok: true, value: receipt });
    });
  }

  for (const [receipt, code] of [
    ["", "REQUIRED"],
    ["RKT QDM", "FORMAT"],
    ["x".repeat(65), "FORMAT"],
    ["é", "FORMAT"],
  ] as const) {
    it(`refuses "${receipt}"`, () => {
      expect(parseRailReceipt(receipt)).to.include({ ok: false, code });
    });
  }
});
