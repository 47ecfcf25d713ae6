import { expect } from "chai";
import fc from "fast-check";

import { type DestinationNumber, maskNumber } from "../../../src/domain/destination.js";
import type { RailReceipt } from "../../../src/domain/payment.js";
import { toCents } from "../../../src/domain/values/cents.js";
import type { DepositId } from "../../../src/domain/values/ids.js";
import type { CallbackPurpose } from "../../../src/rails/callback-token.js";
import { maskMessage } from "../../../src/rails/mask.js";
import type { OpenPayment } from "../../../src/rails/order.js";
import type { RailFault } from "../../../src/rails/rail.js";
import { payment } from "../support/orders.js";
import {
  b2cResult,
  balanceResult,
  CHECKOUT_REQUEST_ID,
  PAID_ITEMS,
  parameters,
  statusResult,
  stkCallback,
} from "./messages.js";
import { mpesaRail } from "./mpesa-rail.js";

const rail = mpesaRail();
/** M-Pesa's id of a request that has none of ours. */
const CONVERSATION = "29112-34801843-1";
const MINT = payment("MINT", { railReference: CHECKOUT_REQUEST_ID });
const REDEEM = payment("REDEEM");

describe("a message of M-Pesa", () => {
  const paidMint = {
    kind: "succeeded",
    movement: CHECKOUT_REQUEST_ID,
    receipt: "NLJ7RT61SV",
    amountCents: 100_00,
    phone: "254******149",
  };
  const paidRedeem = {
    kind: "succeeded",
    movement: REDEEM.transactionId,
    receipt: "SG632NMUAB",
    amountCents: 100_00,
    phone: "254******149",
  };

  describe("about a prompt", () => {
    const read = (body: string, about = MINT): unknown => rail.read({ purpose: "collect", body }, about);

    it("tells that it was paid", () => {
      expect(read(stkCallback())).to.deep.equal(paidMint);
    });

    it("finds the items by their names, in any order and among others", () => {
      const items = [{ Name: "More", Value: { Amount: 7 } }, ...PAID_ITEMS.toReversed(), null, "x", { Value: 5 }];
      expect(read(stkCallback({ CallbackMetadata: { Item: items } }))).to.deep.equal(paidMint);
    });

    it("is read if its types are others", () => {
      const items = [
        { Name: "Amount", Value: "100.00" },
        { Name: "MpesaReceiptNumber", Value: " NLJ7RT61SV " },
        { Name: "PhoneNumber", Value: "25470****149" },
      ];
      expect(read(stkCallback({ ResultCode: "0", CallbackMetadata: { Item: items } }))).to.deep.equal({
        ...paidMint,
        phone: "254******149",
      });
      const alone = { CallbackMetadata: { Item: { Name: "Amount", Value: 100 } } };
      expect(read(stkCallback(alone))).to.deep.include({ kind: "succeeded", amountCents: 100_00, receipt: undefined });
    });

    it("tells of a payment without its details", () => {
      const nothing = { receipt: undefined, amountCents: undefined, phone: undefined };
      expect(read(stkCallback({ CallbackMetadata: undefined }))).to.deep.equal({ ...paidMint, ...nothing });
    });

    it("leaves the payment open if its amount cannot be read", () => {
      for (const Value of ["{Amount={BasicAmount=100}}", "1e2", -100, 0, 100.005, "100,00"]) {
        expect(read(stkCallback({}, [{ Name: "Amount", Value }])), String(Value)).to.deep.equal({
          kind: "open",
          code: "AMOUNT_UNREADABLE",
        });
      }
    });

    it("reports the money of another prompt under that prompt's name", () => {
      expect(read(stkCallback({ CheckoutRequestID: "ws_CO_2" }))).to.deep.equal({ ...paidMint, movement: "ws_CO_2" });
    });

    it("names the prompt of a failure, for the query that confirms it", () => {
      expect(read(stkCallback({ ResultCode: 1032 }))).to.deep.equal({
        kind: "failed",
        movement: CHECKOUT_REQUEST_ID,
        code: "1032",
        place: "result of /mpesa/stkpush/v1/processrequest",
        failure: "CANCELED_BY_PAYER",
      });
    });

    it("says nothing about a payout", () => {
      expect(read(stkCallback(), REDEEM)).to.equal(undefined);
    });
  });

  describe("about a payout", () => {
    const read = (body: string, purpose: CallbackPurpose = "pay_out", about = REDEEM): unknown =>
      rail.read({ purpose, body }, about);

    it("tells that it was made", () => {
      expect(read(b2cResult(REDEEM))).to.deep.equal(paidRedeem);
    });

    it("takes the receipt from beside the parameters, and a single parameter for a list", () => {
      const ResultParameters = { ResultParameter: { Key: "TransactionAmount", Value: "100.00" } };
      expect(read(b2cResult(REDEEM, { ResultParameters }))).to.deep.equal({ ...paidRedeem, phone: undefined });
    });

    it("does not take the TransactionID of a failure for a receipt", () => {
      expect(read(b2cResult(REDEEM, { ResultCode: 2040 }))).to.deep.equal({
        kind: "failed",
        movement: REDEEM.transactionId,
        code: "2040",
        place: "result of /mpesa/b2c/v3/paymentrequest",
        failure: "RECIPIENT_NOT_REGISTERED",
      });
    });

    it("leaves the payment open if its amount cannot be read", () => {
      const ResultParameters = { ResultParameter: parameters({ TransactionAmount: "one hundred" }) };
      expect(read(b2cResult(REDEEM, { ResultParameters }))).to.deep.equal({ kind: "open", code: "AMOUNT_UNREADABLE" });
    });

    it("is of no use if it is about another payout, or about none", () => {
      expect(read(b2cResult(payment("REDEEM")))).to.equal(undefined);
      expect(read(b2cResult(REDEEM, { OriginatorConversationID: undefined }))).to.equal(undefined);
      expect(read(b2cResult(MINT), "pay_out", MINT)).to.equal(undefined);
    });

    it("that sends the request back proves nothing: the payout waits in a queue", () => {
      const body = JSON.stringify({
        OriginatorConversationID: REDEEM.transactionId,
        Amount: 100,
        PartyB: "254708374149",
      });
      expect(read(body, "timeout")).to.deep.equal({ kind: "open", code: "QUEUE_TIMEOUT" });
      expect(read(body, "pay_out")).to.deep.equal({ kind: "open", code: "QUEUE_TIMEOUT" });
      expect(read(JSON.stringify({ OriginatorConversationID: "txn_other" }), "timeout")).to.equal(undefined);
    });
  });

  describe("about the status of a payout", () => {
    const read = (body: string, about = REDEEM): unknown => rail.read({ purpose: "status", body }, about);

    it("tells that it was made", () => {
      expect(read(statusResult(REDEEM))).to.deep.equal(paidRedeem);
    });

    it("is of no use if the payout in it is another, or if the payment is a mint", () => {
      expect(read(statusResult(payment("REDEEM")))).to.equal(undefined);
      expect(read(statusResult(MINT), MINT)).to.equal(undefined);
    });

    it("is about the payout that was asked for, if it names none", () => {
      expect(read(statusResult(REDEEM, { OriginatorConversationID: undefined }))).to.deep.equal(paidRedeem);
    });

    it("leaves the payment open if its amount cannot be read, or if it has no status", () => {
      expect(read(statusResult(REDEEM, { Amount: "x" }))).to.deep.equal({ kind: "open", code: "AMOUNT_UNREADABLE" });
      const noStatus = statusResult(REDEEM, { TransactionStatus: undefined });
      expect(read(noStatus)).to.deep.equal({ kind: "open", code: "STATUS_OPEN" });
    });

    it("is not the result of the payout itself: there a code would be final", () => {
      expect(read(b2cResult(REDEEM, { ResultCode: 2040 }))).to.deep.equal({ kind: "open", code: "2040" });
    });
  });

  describe("about a payout to a business", () => {
    const number = "600000 RENT1" as DestinationNumber;
    const lost = payment("REDEEM", { numberKind: "PAYBILL", number });
    const sent = { ...lost, railReference: CONVERSATION };
    const paidBusiness = { ...paidRedeem, movement: CONVERSATION, phone: undefined };
    const result = (given: object = {}, about: object = {}): string => {
      const all = { Amount: "100", ReceiverPartyPublicName: "600000 - A LANDLORD", ...given };
      const ResultParameters = { ResultParameter: parameters(all) };
      return b2cResult(REDEEM, { OriginatorConversationID: CONVERSATION, ResultParameters, ...about });
    };
    const status = (given: object = {}): string =>
      statusResult(REDEEM, {
        OriginatorConversationID: CONVERSATION,
        CreditPartyName: "600000 - A LANDLORD",
        ...given,
      });
    const read = (body: string, about: OpenPayment = sent, purpose: CallbackPurpose = "pay_out"): unknown =>
      rail.read({ purpose, body }, about);

    it("tells that it was made, also where the answer to the request was lost", () => {
      expect(read(result())).to.deep.equal(paidBusiness);
      expect(read(result(), lost)).to.deep.equal(paidBusiness);
      expect(read(status(), sent, "status")).to.deep.equal(paidBusiness);
      expect(read(status(), lost, "status")).to.deep.equal(paidBusiness);
    });

    it("names M-Pesa's id of the request with a failure", () => {
      const place = "result of /mpesa/b2b/v1/paymentrequest";
      const failed = { kind: "failed", movement: CONVERSATION, code: "1", place, failure: "RAIL_ACCOUNT_SHORT" };
      expect(read(result({}, { ResultCode: 1 }), lost)).to.deep.equal(failed);
      const unclear = { kind: "open", code: "9999", place, isUnclear: true };
      expect(read(result({}, { ResultCode: 9999 }))).to.deep.equal(unclear);
    });

    it("is of no use if it is about another request, or about none", () => {
      expect(read(result({}, { OriginatorConversationID: "other" }))).to.equal(undefined);
      expect(read(result({}, { OriginatorConversationID: undefined }), lost)).to.equal(undefined);
      expect(read(status({ OriginatorConversationID: "other" }), sent, "status")).to.equal(undefined);
      const nameless = { kind: "open", code: "NO_REFERENCE" };
      expect(read(status({ OriginatorConversationID: undefined }), lost, "status")).to.deep.equal(nameless);
    });

    it("leaves the payment open if another paybill was paid, or if its amount cannot be read", () => {
      const other = { kind: "open", code: "OTHER_BUSINESS" };
      expect(read(result({ ReceiverPartyPublicName: "600001 - A THIEF" }))).to.deep.equal(other);
      expect(read(status({ CreditPartyName: "600001 - A THIEF" }), sent, "status")).to.deep.equal(other);
      expect(read(result({ Amount: "one" }))).to.deep.equal({ kind: "open", code: "AMOUNT_UNREADABLE" });
      // M-Pesa may name the store of a till.
      const till = {
        ...sent,
        numberKind: "TILL" as const,
        maskedNumber: maskNumber("TILL", "600000" as DestinationNumber),
      };
      expect(read(result({ ReceiverPartyPublicName: "600001 - A SHOP" }), till)).to.deep.equal(paidBusiness);
    });

    it("that sends the request back proves nothing, and the address says whose it is", () => {
      const body = JSON.stringify({ Amount: 100, PartyB: "600000" });
      expect(read(body, lost, "timeout")).to.deep.equal({ kind: "open", code: "QUEUE_TIMEOUT" });
      expect(read(body, lost)).to.equal(undefined);
      expect(read("no json", lost, "timeout")).to.equal(undefined);
    });
  });

  describe("about the balance", () => {
    const read = (body: string, purpose: CallbackPurpose = "balance"): unknown => rail.readBalance({ purpose, body });

    it("gives each account, also one below zero", () => {
      const text =
        "Working Account|KES|700000.00|700000.00|0.00|0.00&Utility Account|KES|228037.5|228037.5|0.00|0.00" +
        "&Charges Paid Account|KES|-1540.00|-1540.00|0.00|0.00";
      expect(read(balanceResult(text))).to.deep.equal({
        kind: "told",
        balance: {
          accounts: [
            { name: "Working Account", currency: "KES", availableCents: 700_000_00 },
            { name: "Utility Account", currency: "KES", availableCents: 228_037_50 },
            { name: "Charges Paid Account", currency: "KES", availableCents: -1_540_00 },
          ],
        },
      });
    });

    it("is of no use if one part of it cannot be read, or if it failed", () => {
      for (const text of [
        "",
        "Working Account|KES|x",
        "Working Account|KES|1.00&",
        "|KES|1.00",
        "a||1.00",
        700,
        null,
      ]) {
        expect(read(balanceResult(text)), String(text)).to.equal(undefined);
      }
      expect(read(balanceResult("Working Account|KES|1.00", { ResultCode: "15" }))).to.deep.equal({
        kind: "refused",
        code: "15",
      });
      const fault = { kind: "credentials", credential: "initiator", code: "2001" };
      expect(read(balanceResult(undefined, { ResultCode: "2001" }))).to.deep.equal({
        kind: "refused",
        code: "2001",
        fault,
      });
      expect(read(balanceResult("Working Account|KES|1.00"), "status")).to.equal(undefined);
      expect(rail.read({ purpose: "balance", body: balanceResult("Working Account|KES|1.00") }, REDEEM)).to.equal(
        undefined,
      );
    });
  });

  describe("about the return of a payment", () => {
    const depositId = "dep_01jd2r6p5vf8ksw3xhb1z7q4ye" as DepositId;
    const paid = { depositId, receipt: "RKTQDM7W6S" as RailReceipt, amountCents: toCents(100_00) };
    const request = "AG_20240706_20106e9209f64bebd05b";
    const returned = { kind: "returned", request, receipt: "SG632NMUAB" };
    const names = { OriginalTransactionID: "RKTQDM7W6S", Amount: "100.00", Charge: "0.00" };
    const result = (differing: object = {}, of: Readonly<Record<string, unknown>> = names): string =>
      JSON.stringify({
        Result: {
          ResultType: 0,
          ResultCode: 0,
          ConversationID: request,
          TransactionID: "SG632NMUAB",
          ResultParameters: {
            ResultParameter: parameters({ ...of, CreditPartyPublicName: "254708374149 - JOYFREDA SONGOK" }),
          },
          ...differing,
        },
      });
    const read = (body: string): unknown => rail.readReturn(body, paid);

    it("tells its receipt, also if the message is masked", () => {
      for (const body of [result(), result({ ResultCode: "0" }), result({}, {}), maskMessage(result())]) {
        expect(read(body)).to.deep.equal(returned);
      }
    });

    for (const code of [1, 11, 21, 2001, 2006, 2028, "R000002"]) {
      it(`is refused with ${String(code)}`, () => {
        const { fault, ...report } = read(result({ ResultCode: code })) as { fault?: RailFault };
        expect(report).to.deep.equal({ kind: "refused", request, code: String(code) });
        expect(fault?.kind).to.equal([21, 2001].includes(code as number) ? "credentials" : undefined);
      });
    }

    it("tells with R000001 that it went back before, and with another code nothing", () => {
      const [before, locked] = ["R000001", 8006].map((code) => read(result({ ResultCode: code })));
      expect(before).to.deep.equal({ kind: "returned before", request, code: "R000001" });
      expect(locked).to.deep.equal({ kind: "open", request, code: "8006" });
    });

    it("is no proof for another payment or amount, or without a receipt of its own", () => {
      for (const body of [
        result({}, { ...names, OriginalTransactionID: "RKTQDM7W6T" }),
        result({}, { ...names, Amount: "99.00" }),
        result({}, { ...names, Amount: "a hundred" }),
        result({ TransactionID: undefined }),
        result({ TransactionID: "RKTQDM7W6S" }),
      ]) {
        expect(read(body)).to.deep.equal({ kind: "open", request, code: "FOREIGN_RESULT" });
      }
      expect(read(JSON.stringify({ TransactionID: "RKTQDM7W6S", CommandID: "TransactionReversal" }))).to.equal(
        undefined,
      );
    });
  });

  it("reads alike when it is masked", () => {
    for (const [purpose, body, about] of [
      ["collect", stkCallback(), MINT],
      ["collect", stkCallback({ ResultCode: 1032 }), MINT],
      ["pay_out", b2cResult(REDEEM), REDEEM],
      ["status", statusResult(REDEEM), REDEEM],
      ["timeout", JSON.stringify({ OriginatorConversationID: REDEEM.transactionId }), REDEEM],
    ] as const) {
      const masked = maskMessage(body);
      expect(masked).not.to.match(/254708374149|SONGOK/);
      expect(rail.read({ purpose, body: masked }, about)).to.deep.equal(rail.read({ purpose, body }, about));
      expect(rail.read({ purpose, body }, about)).not.to.equal(undefined);
    }
  });

  it("never makes the reader throw, whatever it is", () => {
    const anyPurpose = fc.constantFrom<CallbackPurpose>("collect", "pay_out", "timeout", "status", "balance");
    const anyField = fc.jsonValue({ maxDepth: 3 });
    const anyBody = fc.oneof(
      fc.string(),
      fc.json(),
      anyField.map((value) => stkCallback({ CallbackMetadata: value })),
      anyField.map((value) => stkCallback({ ResultCode: value })),
      anyField.map((value) => stkCallback({}, [{ Name: "Amount", Value: value }])),
      anyField.map((value) => b2cResult(REDEEM, { ResultParameters: value })),
      anyField.map((value) => b2cResult(REDEEM, { ResultParameters: { ResultParameter: value } })),
      anyField.map((value) => statusResult(REDEEM, { Amount: value, TransactionStatus: value })),
      anyField.map((value) => balanceResult(value)),
    );
    fc.assert(
      fc.property(anyPurpose, anyBody, fc.constantFrom(MINT, REDEEM), (purpose, body, about) => {
        expect(rail.read({ purpose, body }, about)?.kind).to.be.oneOf(["succeeded", "failed", "open", undefined]);
        rail.readBalance({ purpose, body });
        rail.readReturn(body, {
          depositId: "dep_1" as DepositId,
          receipt: "RKTQDM7W6S" as RailReceipt,
          amountCents: toCents(1_00),
        });
      }),
    );
  });
});
