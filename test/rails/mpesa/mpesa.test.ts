import { expect } from "chai";

import type { DestinationNumber } from "../../../src/domain/destination.js";
import type { RailReceipt } from "../../../src/domain/payment.js";
import type { TransactionType } from "../../../src/domain/transaction.js";
import { toCents } from "../../../src/domain/values/cents.js";
import type { DepositId } from "../../../src/domain/values/ids.js";
import { uuidOf } from "../../../src/rails/callback-token.js";
import { MPESA_CAPABILITIES } from "../../../src/rails/mpesa/limits.js";
import type { MpesaRail } from "../../../src/rails/mpesa/mpesa.js";
import { accountReferenceOf } from "../../../src/rails/mpesa/stk.js";
import type { RailReport, Sent } from "../../../src/rails/rail.js";
import { type BegunOrder, payment, phone, questionAbout } from "../support/orders.js";
import { CHECKOUT_REQUEST_ID } from "./messages.js";
import { mpesaRail, passwordIn } from "./mpesa-rail.js";
import { afterToken, answering, resetting, type Respond, StubServer } from "./stub-server.js";

const QUESTION = "01932d53-1b2e-7c3a-8f00-0123456789cd";
const { MINT, REDEEM } = MPESA_CAPABILITIES;
const BUSINESSES = { MINT, REDEEM: { ...REDEEM, destinations: { TILL: REDEEM, PAYBILL: REDEEM } } };
const NEVER = new AbortController().signal;

describe("the M-Pesa rail", () => {
  let stub: StubServer;
  let rail: MpesaRail;

  async function serving(...responds: readonly Respond[]): Promise<void> {
    stub = await StubServer.start(afterToken(...responds));
    rail = mpesaRail({ baseUrl: stub.url, capabilities: BUSINESSES });
  }

  afterEach(() => stub.stop());

  const send = (order: BegunOrder): Promise<Sent> => rail.send(order, NEVER);
  const query = (order: BegunOrder): Promise<RailReport> => rail.query(order, NEVER, questionAbout(order));

  const PUSHED = { MerchantRequestID: "2654-4b64", CheckoutRequestID: CHECKOUT_REQUEST_ID, ResponseCode: "0" };
  const PAYING = { ConversationID: "AG_20240706_20106e9209f64bebd05b", ResponseCode: "0" };

  function error(httpStatus: number, errorCode: string, errorMessage: string): Respond {
    return answering(httpStatus, { requestId: "1c5b-4ba8-815c-ac45c57a3db0", errorCode, errorMessage });
  }

  describe("collects", () => {
    it("with a prompt that holds all that Daraja asks for", async () => {
      await serving(answering(200, PUSHED));
      const order = payment("MINT");
      expect(await send(order)).to.deep.equal({ kind: "accepted", railReference: CHECKOUT_REQUEST_ID });
      expect(stub.orders).to.have.length(1);
      expect(stub.orders[0]?.path).to.equal("/mpesa/stkpush/v1/processrequest");
      expect(stub.orders[0]?.body).to.deep.equal({
        BusinessShortCode: "174379",
        Password: Buffer.from("174379the-passkey20261122131500").toString("base64"),
        Timestamp: "20261122131500",
        TransactionType: "CustomerPayBillOnline",
        Amount: 100,
        PartyA: "254708374149",
        PartyB: "174379",
        PhoneNumber: "254708374149",
        CallBackURL: `https://kesc.test/callbacks/collect/${uuidOf(order.transactionId)}`,
        AccountReference: accountReferenceOf(order.transactionId),
        TransactionDesc: "KESC",
      });
    });

    it("under a reference of 12 characters from the end of the transaction's id", () => {
      expect(accountReferenceOf("txn_01jd2r6p5vf8ksw3xhb1z7q4ye")).to.equal("W3XHB1Z7Q4YE");
    });

    for (const [what, respond, expected] of [
      [
        "a phone number that is refused",
        error(400, "400.002.02", "Bad Request - Invalid PhoneNumber"),
        { kind: "rejected", code: "400.002.02", failure: "RAIL_REFUSED" },
      ],
      [
        "a wrong passkey",
        error(500, "500.001.1001", "Wrong credentials"),
        { kind: "rejected", code: "500.001.1001", failure: "RAIL_REFUSED" },
      ],
      [
        "a wrong shortcode",
        error(500, "500.001.1001", "Merchant does not exist"),
        { kind: "rejected", code: "500.001.1001", failure: "RAIL_REFUSED" },
      ],
      [
        "a payer with another prompt",
        error(
          500,
          "500.001.1001",
          "Unable to lock subscriber, a transaction is already in process for the current subscriber",
        ),
        { kind: "unreached", code: "500.001.1001", retryAfterMillis: 60_000 },
      ],
      [
        "the same code with other words",
        error(500, "500.001.1001", "The transaction is being processed"),
        { kind: "unknown", code: "500.001.1001" },
      ],
      [
        "an error inside Daraja",
        error(500, "500.003.1001", "Internal Server Error"),
        { kind: "unknown", code: "500.003.1001" },
      ],
      [
        "a bad request of another kind",
        error(400, "400.002.99", "Bad Request"),
        { kind: "unknown", code: "400.002.99" },
      ],
      [
        "an answer with another ResponseCode",
        answering(200, { ...PUSHED, ResponseCode: "1" }),
        { kind: "unknown", code: "1" },
      ],
      [
        "an answer without the name of the prompt",
        answering(200, { ResponseCode: "0" }),
        { kind: "unknown", code: "MALFORMED_ANSWER" },
      ],
      ["an empty answer", answering(200, {}), { kind: "unknown", code: "NO_RESPONSE_CODE" }],
    ] as const) {
      it(`says ${expected.kind} after ${what}`, async () => {
        await serving(respond);
        expect(await send(payment("MINT"))).to.deep.include(expected);
        expect(stub.orders, "it is sent once").to.have.length(1);
      });
    }

    it("says unknown after a reset, and does not send again", async () => {
      await serving(resetting);
      expect((await send(payment("MINT"))).kind).to.equal("unknown");
      expect(stub.orders).to.have.length(1);
    });
  });

  describe("returns a payment", () => {
    const depositId = "dep_01jd2r6p5vf8ksw3xhb1z7q4ye" as DepositId;
    const paid = { depositId, receipt: "RKTQDM7W6S" as RailReceipt, amountCents: toCents(100_00) };

    it("with a reversal of its receipt, which the answer names", async () => {
      await serving(answering(200, PAYING));
      const name = PAYING.ConversationID;
      expect(await rail.returnPayment(paid, NEVER)).to.deep.equal({ kind: "accepted", railReference: name });
      expect(stub.orders[0]?.path).to.equal("/mpesa/reversal/v1/request");
      const { SecurityCredential, ...body } = stub.orders[0]?.body ?? {};
      const url = `https://kesc.test/callbacks/return/${uuidOf(depositId)}`;
      expect(body).to.deep.equal({
        Initiator: "testapi",
        CommandID: "TransactionReversal",
        TransactionID: "RKTQDM7W6S",
        Amount: 100,
        ReceiverParty: "174379",
        RecieverIdentifierType: "11",
        ResultURL: url,
        QueueTimeOutURL: url,
        Remarks: "KESC return",
        Occasion: "KESC",
      });
      expect(passwordIn(SecurityCredential)).to.equal("the-initiator-password");
    });

    it("not if its amount has cents, and not if a field is refused", async () => {
      await serving(error(400, "400.002.02", "Bad Request - Invalid TransactionID"));
      for (const [amountCents, code] of [
        [100_50, "AMOUNT_NOT_PAYABLE"],
        [100_00, "400.002.02"],
      ] as const) {
        const sent = await rail.returnPayment({ ...paid, amountCents: toCents(amountCents) }, NEVER);
        expect(sent).to.include({ kind: "rejected", code, failure: "RAIL_REFUSED" });
      }
    });
  });

  describe("pays out", () => {
    it("with a request whose id is the transaction's", async () => {
      await serving(answering(200, PAYING));
      const order = payment("REDEEM");
      expect(await send(order)).to.deep.equal({ kind: "accepted", railReference: PAYING.ConversationID });
      expect(stub.orders[0]?.path).to.equal("/mpesa/b2c/v3/paymentrequest");
      const { SecurityCredential, ...body } = stub.orders[0]?.body ?? {};
      expect(body).to.deep.equal({
        OriginatorConversationID: order.transactionId,
        InitiatorName: "testapi",
        CommandID: "BusinessPayment",
        Amount: 100,
        PartyA: "600992",
        PartyB: "254708374149",
        Remarks: "KESC redemption",
        QueueTimeOutURL: `https://kesc.test/callbacks/timeout/${uuidOf(order.transactionId)}`,
        ResultURL: `https://kesc.test/callbacks/pay_out/${uuidOf(order.transactionId)}`,
        Occassion: "",
      });
      expect(passwordIn(SecurityCredential)).to.equal("the-initiator-password");
    });

    for (const [numberKind, number, expected] of [
      ["TILL", "5432321", { CommandID: "BusinessBuyGoods", PartyB: "5432321" }],
      ["PAYBILL", "600000 RENT1", { CommandID: "BusinessPayBill", PartyB: "600000", AccountReference: "RENT1" }],
    ] as const) {
      it(`to a ${numberKind} with a request that has no id of ours`, async () => {
        const id = "29112-34801843-1";
        await serving(answering(200, { ...PAYING, OriginatorConversationID: id }));
        const order = payment("REDEEM", { numberKind, number: number as DestinationNumber });
        expect(await send(order)).to.deep.equal({ kind: "accepted", railReference: id });
        expect(stub.orders[0]?.path).to.equal("/mpesa/b2b/v1/paymentrequest");
        const { SecurityCredential, ...body } = stub.orders[0]?.body ?? {};
        expect(body).to.deep.equal({
          Initiator: "testapi",
          SenderIdentifierType: "4",
          RecieverIdentifierType: "4",
          Amount: 100,
          PartyA: "600992",
          AccountReference: accountReferenceOf(order.transactionId),
          Remarks: `KESC ${order.transactionId}`,
          QueueTimeOutURL: `https://kesc.test/callbacks/timeout/${uuidOf(order.transactionId)}`,
          ResultURL: `https://kesc.test/callbacks/pay_out/${uuidOf(order.transactionId)}`,
          ...expected,
        });
        expect(passwordIn(SecurityCredential)).to.equal("the-initiator-password");
      });
    }

    it("to a business nothing without limits of its own, and takes an answer without M-Pesa's id for none", async () => {
      const order = payment("REDEEM", { numberKind: "TILL", number: "5432321" as DestinationNumber });
      await serving(answering(200, { ...PAYING, OriginatorConversationID: undefined }));
      expect(await send(order)).to.include({ kind: "unknown", code: "MALFORMED_ANSWER" });
      expect(await query(order)).to.deep.equal({ kind: "open", code: "NO_REFERENCE" });
      rail = mpesaRail({ baseUrl: stub.url });
      expect(await send(order)).to.include({ kind: "rejected", code: "AMOUNT_NOT_PAYABLE" });
      expect(stub.orders).to.have.length(1);
    });

    it("with the same id each time, and takes the refusal of a duplicate for an acceptance", async () => {
      await serving(resetting, error(500, "500.002.1001", "Duplicate OriginatorConversationID."));
      const order = payment("REDEEM");
      expect((await send(order)).kind).to.equal("unknown");
      expect(await send(order)).to.deep.equal({ kind: "accepted", railReference: undefined });
      const [first, second] = stub.orders.map(({ body }) => body["OriginatorConversationID"]);
      expect([first, second]).to.deep.equal([order.transactionId, order.transactionId]);
    });

    for (const [what, respond, expected] of [
      [
        "a field that is refused",
        error(400, "400.002.02", "Bad Request - Invalid InitiatorName"),
        { kind: "rejected", code: "400.002.02", failure: "RAIL_REFUSED" },
      ],
      [
        "the duplicate's code with other words",
        error(500, "500.002.1001", "System internal error."),
        { kind: "unknown", code: "500.002.1001" },
      ],
      [
        "the words of a collection",
        error(500, "500.001.1001", "Wrong credentials"),
        { kind: "unknown", code: "500.001.1001" },
      ],
      [
        "an answer with another ResponseCode",
        answering(200, { ...PAYING, ResponseCode: "2040" }),
        { kind: "unknown", code: "2040" },
      ],
      [
        "an answer without a ConversationID",
        answering(200, { ResponseCode: 0 }),
        { kind: "accepted", railReference: undefined },
      ],
    ] as const) {
      it(`says ${expected.kind} after ${what}`, async () => {
        await serving(respond);
        expect(await send(payment("REDEEM"))).to.deep.include(expected);
      });
    }
  });

  describe("sends nothing", () => {
    beforeEach(() => serving(answering(200, {})));
    afterEach(() => {
      expect(stub.received).to.deep.equal([]);
    });

    for (const [direction, amountCents] of [
      ["MINT", 100_50],
      ["MINT", 1],
      ["MINT", 250_001_00],
      ["REDEEM", 100_01],
      ["REDEEM", 9_00],
      ["REDEEM", 250_001_00],
    ] as const satisfies [TransactionType, number][]) {
      it(`for a ${direction} of ${String(amountCents)} cents, and never rounds`, async () => {
        const sent = await send(payment(direction, { amountCents: toCents(amountCents) }));
        expect(sent).to.deep.equal({ kind: "rejected", code: "AMOUNT_NOT_PAYABLE", failure: "RAIL_REFUSED" });
      });
    }

    it("for an amount with cents, even if the setting allows cents", async () => {
      const capabilities = {
        minCents: toCents(1),
        maxCents: toCents(500_00),
        stepCents: toCents(1),
        phoneNumbers: /./,
      };
      const other = mpesaRail({ baseUrl: stub.url, capabilities: { MINT: capabilities, REDEEM: capabilities } });
      const sent = await other.send(payment("MINT", { amountCents: toCents(100_50) }), NEVER);
      expect(sent).to.include({ kind: "rejected", code: "AMOUNT_NOT_PAYABLE" });
    });

    for (const number of ["+442079460958", "+254202222222"]) {
      it(`to ${number}, which is not a number of M-Pesa`, async () => {
        const sent = await send(payment("REDEEM", { number: phone(number) }));
        expect(sent).to.deep.equal({ kind: "rejected", code: "PHONE_NUMBER_NOT_PAYABLE", failure: "RAIL_REFUSED" });
      });
    }

    it("when it is asked for a prompt whose name is not known", async () => {
      expect(await query(payment("MINT"))).to.deep.equal({ kind: "open", code: "NO_REFERENCE" });
    });
  });

  describe("queries a prompt", () => {
    const asked = payment("MINT", { railReference: CHECKOUT_REQUEST_ID });
    const answered = { ResponseCode: "0", CheckoutRequestID: CHECKOUT_REQUEST_ID, ResultDesc: "a description" };

    it("by its name", async () => {
      await serving(answering(200, { ...answered, ResultCode: "0" }));
      expect(await query(asked)).to.deep.equal({
        kind: "succeeded",
        movement: CHECKOUT_REQUEST_ID,
        receipt: undefined,
        amountCents: undefined,
        phone: undefined,
      });
      expect(stub.orders[0]).to.deep.include({
        path: "/mpesa/stkpushquery/v1/query",
        body: {
          BusinessShortCode: "174379",
          Password: Buffer.from("174379the-passkey20261122131500").toString("base64"),
          Timestamp: "20261122131500",
          CheckoutRequestID: CHECKOUT_REQUEST_ID,
        },
      });
    });

    for (const [what, respond, expected] of [
      [
        "a cancellation",
        answering(200, { ...answered, ResultCode: "1032" }),
        { kind: "failed", movement: CHECKOUT_REQUEST_ID, code: "1032", failure: "CANCELED_BY_PAYER" },
      ],
      [
        "a prompt that is pending, as an error",
        error(500, "500.001.1001", "The transaction is being processed"),
        { kind: "open", code: "500.001.1001" },
      ],
      [
        "a prompt that is pending, as a code",
        answering(200, { ...answered, ResultCode: "4999" }),
        { kind: "open", code: "4999" },
      ],
      [
        "a prompt that is pending, in words",
        answering(200, { ...answered, ResultCode: "1", ResultDesc: "The transaction is still under processing" }),
        { kind: "open", code: "1" },
      ],
      [
        "a query that was not accepted",
        answering(200, { ...answered, ResponseCode: "1", ResultCode: "1032" }),
        { kind: "open", code: "1" },
      ],
      [
        "an answer about another prompt",
        answering(200, { ...answered, CheckoutRequestID: "ws_CO_2", ResultCode: "0" }),
        { kind: "open", code: "FOREIGN_ANSWER" },
      ],
      ["an answer without a result", answering(200, answered), { kind: "open", code: "NO_RESULT" }],
      [
        "a failure beside an error",
        error(400, "400.002.02", "Bad Request - Invalid CheckoutRequestID"),
        { kind: "open", code: "400.002.02" },
      ],
      ["too many queries", error(500, "500.003.02", "Spike Arrest Violation"), { kind: "open", code: "500.003.02" }],
      ["a page of a proxy", answering(503, "<html></html>"), { kind: "open", code: "HTTP_503" }],
    ] as const) {
      it(`and says ${expected.kind} after ${what}`, async () => {
        await serving(respond);
        expect(await query(asked)).to.deep.include(expected);
      });
    }
  });

  describe("queries a payout", () => {
    it("by the id that it was sent with", async () => {
      await serving(answering(200, PAYING));
      const asked = payment("REDEEM");
      expect(await query(asked)).to.deep.equal({ kind: "open", code: "STATUS_REQUESTED" });
      const url = `https://kesc.test/callbacks/status/${uuidOf(asked.transactionId)}`;
      expect(stub.orders[0]?.path).to.equal("/mpesa/transactionstatus/v1/query");
      const { SecurityCredential, ...body } = stub.orders[0]?.body ?? {};
      expect(body).to.deep.equal({
        Initiator: "testapi",
        CommandID: "TransactionStatusQuery",
        OriginalConversationID: asked.transactionId,
        PartyA: "600992",
        IdentifierType: "4",
        ResultURL: url,
        QueueTimeOutURL: url,
        Remarks: "KESC status",
        Occasion: "KESC",
      });
      expect(passwordIn(SecurityCredential)).to.equal("the-initiator-password");
    });

    it("to a business by M-Pesa's id of the request", async () => {
      await serving(answering(200, PAYING));
      await query(
        payment("REDEEM", { numberKind: "TILL", number: "5432321" as DestinationNumber, railReference: "ref" }),
      );
      expect(stub.orders[0]?.body).to.include({ OriginalConversationID: "ref" });
    });

    it("and stays open if the query was not accepted, which is a fault of the question if Daraja says so", async () => {
      const names = ["OriginatorConversationID", "ConversationID", "ResponseCode", "ResponseDescription"];
      await serving(
        error(400, "400.002.02", "Bad Request - Invalid Initiator"),
        answering(200, { ResponseCode: "21" }),
        // As Safaricom was seen to answer: no result comes.
        answering(200, Object.fromEntries(names.map((name) => [name, ""]))),
        error(500, "500.003.1001", "Internal Server Error"),
        resetting,
      );
      const request = "/mpesa/transactionstatus/v1/query";
      for (const code of ["400.002.02", "21", "NO_RESPONSE_CODE"]) {
        const report = await query(payment("REDEEM"));
        expect(report).to.include({ kind: "open", code });
        // A code that no document explains counts as no fault of ours.
        const fault = { kind: "request", request, code };
        expect(report.fault).to.deep.equal(code === "21" ? undefined : fault);
      }
      expect(await query(payment("REDEEM"))).to.deep.equal({ kind: "open", code: "500.003.1001" });
      expect((await query(payment("REDEEM"))).kind).to.equal("open");
    });
  });

  it("asks for its balance", async () => {
    await serving(answering(200, PAYING), answering(500, { errorCode: "500.003.1001" }), resetting);
    expect(await rail.askBalance(QUESTION, NEVER)).to.deep.equal({ kind: "requested" });
    expect(stub.orders[0]).to.include({ path: "/mpesa/accountbalance/v1/query" });
    expect(stub.orders[0]?.body).to.deep.include({
      CommandID: "AccountBalance",
      PartyA: "600992",
      IdentifierType: "4",
      ResultURL: `https://kesc.test/callbacks/balance/${QUESTION}`,
    });
    expect(await rail.askBalance(QUESTION, NEVER)).to.deep.equal({ kind: "unavailable", code: "500.003.1001" });
    expect((await rail.askBalance(QUESTION, NEVER)).kind).to.equal("unavailable");
  });

  it("throws for settings whose certificate is none", async () => {
    await serving(answering(200, {}));
    expect(() => mpesaRail({ certificatePem: "no certificate" })).to.throw();
  });
});
