import { expect } from "chai";

import type { RailReceipt } from "../../src/domain/payment.js";
import { type NamedTransaction, railDecides } from "../../src/reconcile/reconciliation.js";

const MINT = { type: "MINT", railReceipt: undefined, failure: undefined } as NamedTransaction;
const LISTED: ReadonlySet<string> = new Set(["RKTQDM7W01"]);
const receipt = (text: string): RailReceipt => text as RailReceipt;

const CASES: readonly (readonly [string, Partial<NamedTransaction>, boolean])[] = [
  ["a mint that waits for its payer's shillings", { status: "PROCESSING" }, true],
  ["a mint that failed at the rail", { status: "FAILED", failure: "CANCELED_BY_PAYER" }, true],
  ["a mint that was credited without a receipt", { status: "COMPLETED" }, true],
  ["a mint whose own receipt the rail lists, too", { status: "COMPLETED", railReceipt: receipt("RKTQDM7W01") }, true],
  [
    "no mint whose receipt the rail does not list: it may be mistyped",
    { status: "COMPLETED", railReceipt: receipt("RKTQDM7WO1") },
    false,
  ],
  ["no mint that an operator has corrected", { status: "FAILED", failure: "REPORT_DIFFERS" }, false],
  ["no mint that no rail was asked for", { status: "PENDING" }, false],
  ["no mint that was canceled", { status: "CANCELED" }, false],
  ["no redemption: a payer may type any reference", { type: "REDEEM", status: "PROCESSING" }, false],
];

describe("railDecides", () => {
  for (const [name, given, decides] of CASES) {
    it(`${decides ? "takes" : "leaves"} ${name.replace(/^no /u, "a ")}`, () => {
      expect(railDecides({ ...MINT, ...given }, LISTED)).to.equal(decides);
    });
  }
});
