import { expect } from "chai";
import fc from "fast-check";

import type { RailFailure } from "../../../src/domain/payment.js";
import type { TransactionType } from "../../../src/domain/transaction.js";
import type { CallbackPurpose } from "../../../src/rails/callback-token.js";
import type { RailReport } from "../../../src/rails/rail.js";
import { namesUnder, textUnder } from "../../support/documents/sections.js";
import { payment } from "../support/orders.js";
import { b2cResult, statusResult, stkCallback } from "./messages.js";
import { mpesaRail } from "./mpesa-rail.js";

// The lists once more, from Safaricom's documents. A payment is released by these codes alone, so
// each has a test, and every other code has one together.

const COLLECT: Readonly<Record<string, RailFailure>> = {
  1: "PAYER_SHORT_OF_FUNDS", // The balance is insufficient.
  2: "RAIL_REFUSED", // Below the minimum.
  3: "RAIL_REFUSED", // Above the maximum.
  4: "RAIL_REFUSED", // Above the payer's daily limit.
  8: "RAIL_REFUSED", // The shortcode would hold too much.
  17: "RAIL_REFUSED", // The same amount from the same payer within two minutes.
  1019: "PAYER_UNREACHABLE", // The prompt has expired.
  1025: "RAIL_REFUSED", // The prompt could not be shown.
  1032: "CANCELED_BY_PAYER",
  1037: "PAYER_UNREACHABLE",
  2001: "WRONG_PIN",
  2028: "RAIL_REFUSED", // The shortcode may not do this.
  8006: "RAIL_REFUSED", // The payer is locked.
  SFC_IC0003: "RAIL_REFUSED", // No such business.
};

/** Tables differ on these, or Safaricom's lacks them. */
const UNCLEAR = ["26", "1001", "9999", "E3008"];

const PAY_OUT: Readonly<Record<string, RailFailure>> = {
  1: "RAIL_ACCOUNT_SHORT",
  2: "RAIL_REFUSED", // Below the minimum.
  3: "RAIL_REFUSED", // Above the maximum.
  4: "RECIPIENT_LIMIT", // Of the day.
  8: "RECIPIENT_LIMIT", // Of the balance.
  11: "RAIL_REFUSED", // The account that pays is not active.
  21: "RAIL_REFUSED", // The initiator may not do this.
  2001: "RAIL_REFUSED", // The initiator is not known.
  2006: "RAIL_REFUSED", // The status of the account forbids it.
  2028: "RAIL_REFUSED", // The shortcode may not do this.
  2040: "RECIPIENT_NOT_REGISTERED",
  SFC_IC0003: "RECIPIENT_NOT_REGISTERED", // No such phone number.
};

const STATUS: Readonly<Record<string, RailFailure>> = {
  Cancelled: "RAIL_REFUSED",
  Declined: "RAIL_REFUSED",
  Expired: "RAIL_REFUSED",
};

const rail = mpesaRail();

/** What the rail reads from a message with this code, about a payment of its own. */
function read(code: string | number, purpose: CallbackPurpose, description = "a description"): RailReport | undefined {
  const direction: TransactionType = purpose === "collect" ? "MINT" : "REDEEM";
  const about = payment(direction);
  const bodies = {
    collect: () => stkCallback({ ResultCode: code, ResultDesc: description }),
    pay_out: () => b2cResult(about, { ResultCode: code, ResultDesc: description }),
    timeout: () => b2cResult(about, { ResultCode: code }),
    status: () => statusResult(about, { TransactionStatus: code }),
    balance: () => "",
  };
  return rail.read({ purpose, body: bodies[purpose]() }, about);
}

describe("the final failures of M-Pesa", () => {
  for (const [what, purpose, reasons] of [
    ["a prompt", "collect", COLLECT],
    ["a payout", "pay_out", PAY_OUT],
    ["a payout, in the query of its status,", "status", STATUS],
  ] as const) {
    for (const [code, failure] of Object.entries(reasons)) {
      it(`${what} failed for good with ${code}: ${failure}`, () => {
        expect(read(code, purpose)).to.include({ kind: "failed", failure });
      });
    }
  }

  it("stand in docs/mpesa.md, in the same order", () => {
    for (const [heading, reasons] of [
      ["### Of a push", COLLECT],
      ["### Of a payout", PAY_OUT],
    ] as const) {
      const items = textUnder(heading, "docs/mpesa.md").matchAll(/^- `([^`]+)` (\w+):/gm);
      const documented = Array.from(items, ([, code, failure]) => [code, failure]);
      expect(documented).to.deep.equal(Object.entries(reasons));
    }
  });

  it("have beside them the codes that are unclear, in docs/mpesa.md as well", () => {
    expect(namesUnder("### Unclear codes of a push", "docs/mpesa.md")).to.deep.equal(UNCLEAR);
    for (const code of UNCLEAR) expect(read(code, "collect")).to.deep.equal({ kind: "open", code, isUnclear: true });
  });

  it("are read from a code that is a number, too", () => {
    const numbers = Object.keys(COLLECT).filter((code) => /^\d+$/.test(code));
    for (const code of numbers) expect(read(Number(code), "collect")?.kind).to.equal("failed");
    expect(read(2040, "pay_out")).to.include({ kind: "failed", code: "2040" });
  });

  it("are all: any other code leaves the payment open", () => {
    const anyCode = fc.oneof(
      fc.constantFrom("4999", "26", "1001", "9999", "E3008", "R000001", "500.001.1001", "-1", "15"),
      fc.integer({ min: 1, max: 9_999 }).map(String),
      fc.stringMatching(/^[\w.]{1,12}$/),
    );
    fc.assert(
      fc.property(anyCode, (code) => {
        fc.pre(code !== "0");
        const unclear = UNCLEAR.includes(code) ? { isUnclear: true } : {};
        if (!Object.hasOwn(COLLECT, code)) {
          expect(read(code, "collect")).to.deep.equal({ kind: "open", code, ...unclear });
        }
        if (!Object.hasOwn(PAY_OUT, code)) expect(read(code, "pay_out")).to.deep.equal({ kind: "open", code });
        expect(read(code, "status")?.kind).to.equal("open");
      }),
    );
  });

  it("do not count where the description says that the prompt is still being processed", () => {
    for (const description of [
      "The transaction is being processed",
      "The transaction is still under processing",
      "Request is pending",
    ]) {
      expect(read("1", "collect", description), description).to.deep.equal({ kind: "open", code: "1" });
    }
    expect(read("1001", "collect", "Still processing")).to.deep.equal({ kind: "open", code: "1001" });
    expect(read("1", "collect", "The balance is insufficient for the transaction.")?.kind).to.equal("failed");
  });

  for (const status of ["Initiated", "Authorized", "Pending Authorized", "Reversed", ""]) {
    it(`are not reached in the status "${status}"`, () => {
      expect(read(status, "status")).to.deep.equal({ kind: "open", code: "STATUS_OPEN" });
    });
  }

  it("do not follow from a query that itself failed, whatever its code", () => {
    const about = payment("REDEEM");
    for (const code of [...Object.keys(PAY_OUT), ...Object.keys(COLLECT)]) {
      const body = statusResult(about, { TransactionStatus: "Declined" }, { ResultCode: code });
      expect(rail.read({ purpose: "status", body }, about)).to.deep.equal({ kind: "open", code });
    }
  });
});
