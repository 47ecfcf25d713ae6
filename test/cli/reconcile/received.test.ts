import { expect } from "chai";

import { pullReceived } from "../../../src/cli/reconcile/received.js";
import type { RailReceipt } from "../../../src/domain/payment.js";
import { toUnixMillis } from "../../../src/domain/values/time.js";
import type { PaymentRail } from "../../../src/rails/rail.js";
import { OperatorError } from "../../../src/startup/operator-error.js";
import { ScriptedRail } from "../../settlement/support/scripted-rail.js";

describe("what a rail lists for kesc reconcile", () => {
  it("shows the rows that are no payments, and compares the others", async () => {
    const others = [{ receipt: "NLJ7RT61SA" as RailReceipt, receivedAt: undefined, kind: "a-kind", isKnown: false }];
    const rail: PaymentRail = Object.assign(new ScriptedRail(), {
      receivedPayments: () => Promise.resolve({ kind: "complete" as const, payments: [], unreadable: [], others }),
    });
    const period = { from: toUnixMillis(0), to: toUnixMillis(1) };
    expect(await pullReceived(rail, period)).to.deep.equal({ payments: [], others });
  });

  it("is not compared if a row cannot be read, which the command names", async () => {
    const unreadable = [
      { receipt: "NLJ7RT61SA" as RailReceipt, receivedAt: undefined },
      { receipt: undefined, receivedAt: undefined },
    ];
    const rail: PaymentRail = Object.assign(new ScriptedRail(), {
      receivedPayments: () => Promise.resolve({ kind: "complete" as const, payments: [], unreadable }),
    });
    const period = { from: toUnixMillis(0), to: toUnixMillis(1) };
    const error = await pullReceived(rail, period).catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(OperatorError);
    expect(error).to.have.property("message").that.contains("NLJ7RT61SA, one without a receipt. Nothing was compared.");
  });
});
