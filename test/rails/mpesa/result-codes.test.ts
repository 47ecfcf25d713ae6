import { expect } from "chai";
import fc from "fast-check";

import { type RailFailure, UNCONFIRMED } from "../../../src/domain/payment.js";
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
  17: "RAIL_REFUSED", // The same amount from the same payer within two minutes, if the text says "rule".
  18: "RAIL_REFUSED", // The initiator is refused, as with the next three.
  20: "RAIL_REFUSED",
  21: "RAIL_REFUSED",
  22: "RAIL_REFUSED",
  24: "RAIL_REFUSED", // The request is wrong, as with the next two.
  25: "RAIL_REFUSED",
  29: "RAIL_REFUSED",
  1019: "PAYER_UNREACHABLE", // The prompt has expired.
  1025: "RAIL_REFUSED", // The prompt could not be shown.
  1032: "CANCELED_BY_PAYER",
  1037: "PAYER_UNREACHABLE",
  2001: "WRONG_PIN",
  2028: "RAIL_REFUSED", // The shortcode may not do this.
  8006: "RAIL_REFUSED", // The payer is locked.
  SFC_IC0003: "RAIL_REFUSED", // No such business.
};

/** Tables differ on these, Safaricom's lacks them, or one source alone has them. */
const UNCLEAR = {
  collect: ["26", "1001", "1031", "1036", "2002", "2029", "9999", "E3008"],
  pay_out: ["5", "9", "10", "15", "17", "19", "26"],
};

/** What these mean is known, and they end nothing. */
const SILENT = { collect: ["4999"], pay_out: ["8006"] };

const PAY_OUT: Readonly<Record<string, RailFailure>> = {
  1: "RAIL_ACCOUNT_SHORT",
  2: "RAIL_REFUSED", // Below the minimum.
  3: "RAIL_REFUSED", // Above the maximum.
  4: "RECIPIENT_LIMIT", // Of the day.
  6: "RAIL_REFUSED", // A party is not found, or wrong, as with 7, 12, 13 and 14.
  7: "RAIL_REFUSED",
  8: "RECIPIENT_LIMIT", // Of the balance.
  11: "RAIL_REFUSED", // The account that pays is not active.
  12: "RAIL_REFUSED",
  13: "RAIL_REFUSED",
  14: "RAIL_REFUSED",
  18: "RAIL_REFUSED", // The initiator is refused, as with 20 and 22.
  20: "RAIL_REFUSED",
  21: "RAIL_REFUSED", // The initiator may not do this.
  22: "RAIL_REFUSED",
  24: "RAIL_REFUSED", // The request is wrong, as with the next two.
  25: "RAIL_REFUSED",
  29: "RAIL_REFUSED",
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
function read(code: string | number, purpose: CallbackPurpose, description = "Rule limited."): RailReport | undefined {
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

  for (const [purpose, heading] of [
    ["collect", "### Unclear codes of a push"],
    ["pay_out", "### Unclear codes of a payout"],
  ] as const) {
    it(`have beside them those of ${purpose} that are unclear, in docs/mpesa.md as well: a person looks at once`, () => {
      expect(namesUnder(heading, "docs/mpesa.md")).to.deep.equal(UNCLEAR[purpose]);
      for (const code of UNCLEAR[purpose]) expect(read(code, purpose)).to.include({ kind: "open", isUnclear: true });
    });
  }

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
        for (const [purpose, ends] of [
          ["collect", COLLECT],
          ["pay_out", PAY_OUT],
        ] as const) {
          if (Object.hasOwn(ends, code)) continue;
          const isUnclear = SILENT[purpose].includes(code) ? undefined : true;
          expect(read(code, purpose)).to.include({ kind: "open", code });
          expect(read(code, purpose)).to.deep.include(isUnclear === undefined ? {} : { isUnclear });
        }
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
    expect(read("17", "collect", "An error")).to.include({ kind: "open", isUnclear: true });
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
      expect(rail.read({ purpose: "status", body }, about)).to.include({ kind: "open", code });
    }
  });

  for (const code of ["2001", "18", "20", "21", "22"]) {
    it(`tell with ${code} that the initiator is refused, whatever the request was`, () => {
      const about = payment("REDEEM");
      const fault = { kind: "credentials", credential: "initiator", code };
      const status = statusResult(about, {}, { ResultCode: code });
      expect(rail.read({ purpose: "pay_out", body: b2cResult(about, { ResultCode: code }) }, about)).to.deep.include({
        code,
        fault,
      });
      expect(rail.read({ purpose: "status", body: status }, about)).to.deep.equal({ kind: "open", code, fault });
      // Of a push, 2001 is a wrong PIN, and it has no initiator.
      expect(read(code, "collect")?.fault?.kind).to.equal(code === "2001" ? undefined : "request");
    });
  }

  for (const code of ["2033", "2032", "25"]) {
    it(`release nothing with ${code} of a status query: a person looks in the statement`, () => {
      const about = payment("REDEEM");
      const body = statusResult(about, {}, { ResultCode: code });
      expect(rail.read({ purpose: "status", body }, about)).to.include({ kind: "open", code, isUnclear: true });
    });
  }

  for (const code of ["SUCCEEDED", "2001"]) {
    it(`say of ${code}, which no query has confirmed, that a message says so`, () => {
      expect(rail.explain(code, UNCONFIRMED)).to.equal(
        `a message says so, and no query has confirmed it (${code}, unconfirmed)`,
      );
    });
  }
});
