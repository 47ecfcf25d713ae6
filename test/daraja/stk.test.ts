import { expect } from "chai";

import { newOrganization } from "../../daraja/mpesa/organization.js";
import { base64, Client } from "./client.js";

const PHONE = "254700000000";
const CALLBACK = "/callbacks/a0";

/** The results of the callbacks that the business got. */
function resultCodesOf(client: Client): unknown[] {
  return client.received.map(({ body }) => (JSON.parse(body) as StkCallback).Body.stkCallback.ResultCode);
}

interface StkCallback {
  Body: { stkCallback: { ResultCode: unknown } };
}

describe("STK push at the simulator", () => {
  let client: Client;

  beforeEach(async () => {
    client = await Client.start();
  });

  afterEach(() => client.close());

  /** The phone with this ending, prompted: the id of the prompt. */
  async function prompted(ending: string): Promise<unknown> {
    const { status, body } = await client.push(`2547000000${ending}`);
    expect(status).to.equal(200);
    return body?.["CheckoutRequestID"];
  }

  async function resultOf(id: unknown): Promise<unknown> {
    const { body } = await client.queryPush(id);
    return body?.["ResultCode"] ?? body?.["errorMessage"];
  }

  describe("a request", () => {
    it("is answered with ids, before anything has moved", async () => {
      const { status, body } = await client.push(PHONE);
      expect(status).to.equal(200);
      expect(body).to.include({ ResponseCode: "0", CustomerMessage: "Success. Request accepted for processing" });
      expect(body?.["MerchantRequestID"]).to.match(/^[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{16}$/);
      expect(body?.["CheckoutRequestID"]).to.match(/^ws_CO_05012026090000\d{3}700000000$/);
      expect(client.daraja.orders).to.have.length(1);
      expect(client.daraja.receipts).to.deep.equal([]);
    });

    for (const [field, value] of [
      ["BusinessShortCode", "17"],
      ["Password", undefined],
      ["Timestamp", "20261301000000"],
      ["TransactionType", "CustomerPayBill"],
      ["Amount", "0"],
      ["Amount", "1.5"],
      ["Amount", 1.5],
      ["Amount", "-1"],
      ["Amount", undefined],
      ["PartyA", "+254700000000"],
      ["PartyB", ""],
      ["PhoneNumber", "0700000000"],
      ["PhoneNumber", "254800000000"],
      ["AccountReference", "x".repeat(183)],
      ["AccountReference", undefined],
      ["CallBackURL", "http://example.com/a0"],
      ["CallBackURL", "https://example.com/MPesa/a0"],
      ["CallBackURL", "https://example.com/jquery"],
      ["CallBackURL", "https://abc.ngrok.io/a0"],
      ["CallBackURL", "ftp://127.0.0.1/a0"],
      ["CallBackURL", undefined],
    ] as const) {
      it(`is refused with ${field} ${String(value)}`, async () => {
        const { status, body } = await client.push(PHONE, { [field]: value });
        expect(status).to.equal(400);
        expect(body).to.include({ errorCode: "400.002.02", errorMessage: `Bad Request - Invalid ${field}` });
        expect(client.daraja.orders).to.deep.equal([]);
      });
    }

    it("may have a blank after its type, as some clients send it", async () => {
      await client.push(PHONE, { TransactionType: "CustomerPayBillOnline " });
      await client.clock.advance(5_000);
      expect(resultCodesOf(client)).to.deep.equal([0]);
    });

    for (const [characters, code] of [
      [13, 0],
      [79, 0],
      [80, 1025],
      [182, 1025],
    ] as const) {
      it(`with a reference of ${String(characters)} characters ends with ${String(code)}`, async () => {
        const AccountReference = "x".repeat(characters);
        expect(
          (await client.push(PHONE, { AccountReference, TransactionDesc: "twenty characters ok" })).status,
        ).to.equal(200);
        await client.clock.advance(5_000);
        expect(resultCodesOf(client)).to.deep.equal([code]);
      });
    }

    it("needs a description, whose error names the remarks", async () => {
      for (const TransactionDesc of [undefined, "", "x".repeat(183)]) {
        const { body } = await client.push(PHONE, { TransactionDesc });
        expect(body).to.include({ errorCode: "400.002.02", errorMessage: "Bad Request - Invalid Remarks" });
      }
    });

    it("may go to an HTTPS address, and takes numbers as well as texts", async () => {
      const differing = { CallBackURL: "https://example.com/a0", Amount: 100, PhoneNumber: Number(PHONE) };
      expect((await client.push(PHONE, differing)).status).to.equal(200);
    });

    for (const [name, differing, errorMessage] of [
      ["another shortcode", { BusinessShortCode: "600000" }, "Merchant does not exist"],
      ["a password of another time", { Timestamp: "20260105090001" }, "Wrong credentials"],
      ["a password of another passkey", { Password: base64("174379x20260105090000") }, "Wrong credentials"],
    ] as const) {
      it(`is refused with ${name}`, async () => {
        const { status, body } = await client.push(PHONE, differing);
        expect(status).to.equal(500);
        expect(body).to.include({ errorCode: "500.001.1001", errorMessage });
      });
    }

    it("is refused while the phone shows a prompt", async () => {
      await prompted("11");
      const { status, body } = await client.push("254700000011", { Amount: "7" });
      expect([status, body?.["errorCode"]]).to.deep.equal([500, "500.001.1001"]);
      expect(body?.["errorMessage"]).to.contain("Unable to lock subscriber");
      await client.clock.advance(60_000);
      expect((await client.push("254700000011", { Amount: "7" })).status).to.equal(200);
    });
  });

  describe("M-Pesa's own rules", () => {
    for (const [name, amount, options, code] of [
      ["above 250,000", 250_001, {}, "3"],
      ["beyond the payer's balance", 101, { subscriberCents: 10_000 }, "1"],
      ["beyond the shortcode's balance", 100, { organizations: [newOrganization({ utilityCentsMax: 0 })] }, "8"],
    ] as const) {
      it(`end an amount ${name} with ${code}`, async () => {
        const other = await Client.start(options);
        try {
          const { body } = await other.push(PHONE, { Amount: amount });
          await other.clock.advance(5_000);
          expect(resultCodesOf(other)).to.deep.equal([Number(code)]);
          expect((await other.queryPush(body?.["CheckoutRequestID"])).body?.["ResultCode"]).to.equal(code);
          expect(other.daraja.receipts).to.deep.equal([]);
        } finally {
          await other.close();
        }
      });
    }

    it("end the same amount from the same payer within two minutes with 17", async () => {
      await prompted("00");
      await client.clock.advance(60_000);
      await prompted("00");
      await client.clock.advance(66_000);
      await prompted("00");
      await client.clock.advance(5_000);
      expect(resultCodesOf(client)).to.deep.equal([0, 17, 0]);
    });

    it("end more than 500,000 a day with 4", async () => {
      client.daraja.mpesa.subscriber(PHONE).balanceCents = 100_000_000;
      for (const amount of [250_000, 249_999, 2, 1]) {
        await client.push(PHONE, { Amount: amount });
        await client.clock.advance(5_000);
      }
      expect(resultCodesOf(client)).to.deep.equal([0, 0, 4, 0]);
      await client.clock.advance(24 * 3_600_000);
      await client.renewToken();
      await client.push(PHONE, { Amount: 2 });
      await client.clock.advance(5_000);
      expect(resultCodesOf(client)).to.deep.equal([0, 0, 4, 0, 0]);
    });

    it("end a payment to a till, or to another business, with 2028", async () => {
      await client.push(PHONE, { TransactionType: "CustomerBuyGoodsOnline" });
      await client.clock.advance(5_000);
      await client.push(PHONE, { PartyB: "600000" });
      await client.clock.advance(5_000);
      expect(resultCodesOf(client)).to.deep.equal([2028, 2028]);
    });
  });

  describe("a query", () => {
    it("is refused for an unknown prompt, a wrong password and another shortcode", async () => {
      const id = await prompted("00");
      const answers = [
        await client.queryPush("ws_CO_unknown"),
        await client.queryPush(id, { Password: "x" }),
        await client.queryPush(id, { BusinessShortCode: "600000" }),
      ];
      expect(answers.map(({ body }) => body?.["errorMessage"])).to.deep.equal([
        "Bad Request - Invalid CheckoutRequestID",
        "Wrong credentials",
        "Merchant does not exist",
      ]);
    });

    it("has two ways to say that the payment is open, and a text as the code of its result", async () => {
      const id = await prompted("00");
      const first = await client.queryPush(id);
      expect(first.status).to.equal(500);
      expect(first.body).to.deep.equal({
        requestId: id,
        errorCode: "500.001.1001",
        errorMessage: "The transaction is being processed",
      });
      const second = await client.queryPush(id);
      expect(second.status).to.equal(200);
      expect(second.body).to.include({ ResponseCode: "0", ResultCode: "4999" });
      await client.clock.advance(5_000);
      expect((await client.queryPush(id)).body).to.include({ ResponseCode: "0", ResultCode: "0" });
    });
  });

  describe("the phone's ending", () => {
    it("00: the payer pays", async () => {
      const id = await prompted("00");
      const utilityCents = client.daraja.organization.utilityCents;
      await client.clock.advance(5_000);
      const [receipt] = client.daraja.receipts;
      expect(receipt).to.include({
        direction: "IN",
        msisdn: PHONE,
        amountCents: 10_000,
        accountReference: "INVOICE-1",
      });
      expect(receipt?.number).to.match(/^UA5[0-9A-Z]{7}$/);
      expect(client.daraja.organization.utilityCents).to.equal(utilityCents + 10_000);
      expect(client.daraja.mpesa.subscriber(PHONE).balanceCents).to.equal(20_000_000 - 10_000);
      expect(client.received).to.have.length(1);
      expect(client.lastAt(CALLBACK)).to.deep.equal({
        Body: {
          stkCallback: {
            MerchantRequestID: (client.daraja.orders[0] as { merchantRequestId?: string }).merchantRequestId,
            CheckoutRequestID: id,
            ResultCode: 0,
            ResultDesc: "The service request is processed successfully.",
            CallbackMetadata: {
              Item: [
                { Name: "Amount", Value: 100 },
                { Name: "MpesaReceiptNumber", Value: receipt?.number },
                { Name: "Balance" },
                { Name: "TransactionDate", Value: 20260105090005 },
                { Name: "PhoneNumber", Value: 254700000000 },
              ],
            },
          },
        },
      });
      expect(client.daraja.callbacks).to.have.length(1);
      expect(client.daraja.callbacks[0]).to.include({ isForged: false, status: 200 });
    });

    for (const [ending, code, text, afterMillis] of [
      ["01", 1032, "Request cancelled by user", 5_000],
      ["02", 1037, "DS timeout user cannot be reached", 60_000],
      ["03", 1, "The balance is insufficient for the transaction.", 5_000],
      ["04", 2001, "The initiator information is invalid.", 5_000],
    ] as const) {
      it(`${ending}: ${text}`, async () => {
        const id = await prompted(ending);
        await client.clock.advance(afterMillis - 1);
        expect(client.received).to.deep.equal([]);
        await client.clock.advance(1);
        const { Body } = client.lastAt(CALLBACK) as { Body: { stkCallback: Record<string, unknown> } };
        expect(Body.stkCallback).to.include({ CheckoutRequestID: id, ResultCode: code, ResultDesc: text });
        expect(Body.stkCallback).not.to.have.property("CallbackMetadata");
        expect(await resultOf(id)).to.equal(String(code));
        expect(client.daraja.receipts).to.deep.equal([]);
      });
    }

    it("05: the callback is lost, and the query knows", async () => {
      const id = await prompted("05");
      await client.clock.advance(600_000);
      expect(client.received).to.deep.equal([]);
      expect(client.daraja.receipts).to.have.length(1);
      expect(await resultOf(id)).to.equal("0");
    });

    it("06: the callback comes twice", async () => {
      await prompted("06");
      await client.clock.advance(5_000);
      expect(client.received).to.have.length(2);
      expect(client.received[0]).to.deep.equal(client.received[1]);
      expect(client.daraja.receipts).to.have.length(1);
    });

    it("07: the callback comes before the answer", async () => {
      const id = await prompted("07");
      expect(client.lastAt(CALLBACK)).to.have.nested.property("Body.stkCallback.CheckoutRequestID", id);
      expect(client.daraja.receipts).to.have.length(1);
    });

    it("08: the answer is lost, and the callback comes", async () => {
      const failure = await client.push("254700000008").catch((error: unknown) => error);
      expect(failure).to.be.instanceOf(TypeError);
      expect(client.daraja.orders).to.have.length(1);
      await client.clock.advance(5_000);
      expect(resultCodesOf(client)).to.deep.equal([0]);
      expect(client.daraja.receipts).to.have.length(1);
    });

    it("09: a spike arrest once, which accepts nothing", async () => {
      const { status, body } = await client.push("254700000009");
      expect([status, body?.["errorCode"]]).to.deep.equal([500, "500.003.02"]);
      expect(client.daraja.orders).to.deep.equal([]);
      await prompted("09");
      await client.clock.advance(5_000);
      expect(client.daraja.receipts).to.have.length(1);
    });

    it("10: the token becomes invalid once, until it is renewed", async () => {
      const { status, body } = await client.push("254700000010");
      expect([status, body?.["errorCode"]]).to.deep.equal([404, "404.001.03"]);
      expect((await client.push("254700000010")).status).to.equal(404);
      expect(client.daraja.orders).to.deep.equal([]);
      await client.renewToken();
      await prompted("10");
    });

    it("11: open for three queries, then paid", async () => {
      const id = await prompted("11");
      await client.clock.advance(3_600_000);
      await client.renewToken();
      const open = [await resultOf(id), await resultOf(id), await resultOf(id)];
      expect(open).to.deep.equal(["The transaction is being processed", "4999", "The transaction is being processed"]);
      expect(client.daraja.receipts).to.deep.equal([]);
      expect(await resultOf(id)).to.equal("0");
      await client.clock.advance(0);
      expect(resultCodesOf(client)).to.deep.equal([0]);
      expect(client.daraja.receipts).to.have.length(1);
    });

    it("12: expired after a minute, and paid after three", async () => {
      const id = await prompted("12");
      await client.clock.advance(60_000);
      expect(await resultOf(id)).to.equal("1019");
      await client.clock.advance(120_000);
      expect(await resultOf(id)).to.equal("0");
      expect(resultCodesOf(client)).to.deep.equal([1019, 0]);
      expect(client.daraja.receipts).to.have.length(1);
    });

    it("15: the callback is malformed, and the query knows", async () => {
      const id = await prompted("15");
      await client.clock.advance(5_000);
      expect(client.received).to.have.length(1);
      expect(() => client.lastAt(CALLBACK)).to.throw(SyntaxError);
      expect(await resultOf(id)).to.equal("0");
    });

    it("16: a forger claims success with a wrong token, and the payer cancels", async () => {
      await prompted("16");
      await client.clock.advance(5_000);
      expect(client.received.map(({ path }) => path)).to.deep.equal(["/callbacks/a1", CALLBACK]);
      expect(resultCodesOf(client)).to.deep.equal([0, 1032]);
      expect(client.daraja.callbacks.map(({ isForged }) => isForged)).to.deep.equal([true, false]);
      expect(client.daraja.receipts).to.deep.equal([]);
    });

    it("17: the answer is malformed, and the callback comes", async () => {
      expect(await client.push("254700000017")).to.deep.equal({ status: 200, body: undefined });
      await client.clock.advance(5_000);
      expect(resultCodesOf(client)).to.deep.equal([0]);
    });

    it("18: a forger with the right token claims success, and the query knows better", async () => {
      const id = await prompted("18");
      await client.clock.advance(600_000);
      expect(client.received.map(({ path }) => path)).to.deep.equal([CALLBACK]);
      expect(resultCodesOf(client)).to.deep.equal([0]);
      expect(await resultOf(id)).to.equal("1032");
      expect(client.daraja.receipts).to.deep.equal([]);
    });

    it("19: the answer is HTTP 500, and the payer pays all the same", async () => {
      const { status, body } = await client.push("254700000019");
      expect([status, body?.["errorCode"]]).to.deep.equal([500, "500.003.1001"]);
      await client.clock.advance(5_000);
      expect(resultCodesOf(client)).to.deep.equal([0]);
      expect(client.daraja.receipts).to.have.length(1);
    });

    it("24: too many requests, once for the push and once for its query", async () => {
      expect((await client.push("254700000024")).status).to.equal(429);
      const id = await prompted("24");
      expect((await client.queryPush(id)).status).to.equal(429);
      await client.clock.advance(5_000);
      expect(await resultOf(id)).to.equal("0");
    });

    it("20: the app lacks the product, each time", async () => {
      for (const time of ["first", "second"]) {
        const { status, body } = await client.push("254700000020");
        expect([status, body?.["errorCode"]], time).to.deep.equal([401, "401.003.01"]);
      }
      expect(client.daraja.orders).to.deep.equal([]);
    });

    it("21: an expired token in the form of Apigee, until it is renewed", async () => {
      const { status, body } = await client.push("254700000021");
      const detail = { errorcode: "keymanagement.service.access_token_expired" };
      expect([status, body]).to.deep.equal([401, { fault: { faultstring: "Access Token expired", detail } }]);
      expect((await client.push("254700000021")).body?.["errorCode"]).to.equal("404.001.03");
      await client.renewToken();
      await prompted("21");
    });

    it("22: a page of the firewall once, which is no JSON", async () => {
      expect(await client.push("254700000022")).to.deep.equal({ status: 403, body: undefined });
      await prompted("22");
    });

    it("28: the answer says that the request is cached, and the payer pays", async () => {
      const { body } = await client.push("254700000028");
      expect(body?.["ResponseCode"]).to.equal("100000000");
      await client.clock.advance(5_000);
      expect(resultCodesOf(client)).to.deep.equal([0]);
    });

    it("23: the phone cannot be reached, and each query says that the payer has paid", async () => {
      const id = await prompted("23");
      expect(await resultOf(id), "while the prompt is open").to.equal("0");
      await client.clock.advance(60_000);
      expect(resultCodesOf(client)).to.deep.equal([1037]);
      expect(await resultOf(id)).to.equal("0");
      expect(client.daraja.receipts).to.deep.equal([]);
    });

    for (const [ending, code] of [
      ["25", 1025],
      ["26", 1031],
      ["27", 1036],
      ["29", 2029],
    ] as const) {
      it(`${ending}: the prompt ends with ${String(code)}`, async () => {
        await prompted(ending);
        await client.clock.advance(code === 2029 ? 500 : 5_000);
        expect(resultCodesOf(client)).to.deep.equal([code]);
      });
    }

    it("any other: the payer pays", async () => {
      const { body } = await client.push("254708374149");
      await client.clock.advance(5_000);
      expect(await resultOf(body?.["CheckoutRequestID"])).to.equal("0");
    });
  });
});
