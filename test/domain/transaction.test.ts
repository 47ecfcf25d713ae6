import { expect } from "chai";

import { DIRECT_RAIL, isPaidOut, parseRail } from "../../src/domain/transaction.js";
import type { DepositId } from "../../src/domain/values/ids.js";
import { givenAccount, givenTransaction } from "../support/given.js";
import { newTransactionId, SLOW_RAIL } from "../support/names.js";

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

describe("a transaction that a rail has paid out", () => {
  const paid = { accountId: givenAccount().id, type: "REDEEM", status: "COMPLETED", rail: SLOW_RAIL } as const;
  for (const [what, given, expected] of [
    ["a redemption that it completed", {}, true],
    ["one that is open", { status: "PROCESSING" }, false],
    ["a mint", { type: "MINT" }, false],
    ["one that the caller paid", { rail: DIRECT_RAIL }, false],
    ["one that takes a deposit back", { depositId: "dep_1" as DepositId }, false],
    ["a late correction", { corrects: { kind: "LATE", transactionId: newTransactionId() } }, false],
  ] as const) {
    it(`is ${expected ? "" : "not "}${what}`, () => {
      expect(isPaidOut(givenTransaction({ ...paid, ...given }))).to.equal(expected);
    });
  }
});
