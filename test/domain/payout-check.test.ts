import { expect } from "chai";

import {
  detailOfCheck,
  detailOfChecked,
  parseCheckCode,
  parseDeadline,
  readCheck,
} from "../../src/domain/payout-check.js";

describe("a check of payouts", () => {
  it("takes a deadline of 15 seconds to an hour", () => {
    expect([15, 60, 3_600].map((seconds) => parseDeadline(seconds).ok)).to.deep.equal([true, true, true]);
    for (const seconds of [0, 14, 3_601, 15.5]) {
      expect(parseDeadline(seconds)).to.include({ ok: false, code: "OUT_OF_RANGE" });
    }
  });

  it("takes codes of 1 to 40 capital letters, digits and underscores, and no words of people", () => {
    for (const code of ["A", "ON_LIST_7", "X".repeat(40)]) expect(parseCheckCode(code).ok, code).to.equal(true);
    for (const code of ["", "a", "ON LIST", "X".repeat(41), "ÄA", "A\n"]) {
      expect(parseCheckCode(code).ok, code).to.equal(false);
    }
  });

  it("is read from its row as it was written", () => {
    const rules = { url: "https://a.example/", deadlineSeconds: 15, noAnswer: "ALLOW" } as const;
    expect(readCheck(detailOfCheck(rules))).to.deep.equal(rules);
  });

  it("writes a dash for what no answer has", () => {
    const said = { answer: "NO_ANSWER", result: "HOLD", code: undefined, exchangeSha256: undefined } as const;
    expect(detailOfChecked(said)).to.equal("NO_ANSWER HOLD - -");
  });
});
