import { expect } from "chai";

import { parseRail } from "../../src/domain/transaction.js";

describe("parseRail", () => {
  for (const name of ["direct", "mpesa", "a", "rail-2_b", `a${"b".repeat(31)}`]) {
    it(`takes ${name}`, () => {
      expect(parseRail(name)).to.deep.equal({ ok: true, value: name });
    });
  }

  for (const name of ["", "Direct", "2rail", "m pesa", "mpesa ", `a${"b".repeat(32)}`]) {
    it(`refuses "${name}"`, () => {
      expect(parseRail(name)).to.include({ ok: false, problem: "must be the name of a rail, such as direct or mpesa" });
    });
  }
});
