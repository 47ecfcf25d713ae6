import { inflateSync } from "node:zlib";

import { expect } from "chai";

import { qrModules } from "../../daraja/qr-code.js";
import { Client, encrypted } from "./client.js";

const PHONE = "254110000000";
const SHORTCODE = "174379";

interface Result {
  Result: { ResultCode: unknown };
}

describe("the products that clients of others call", () => {
  let client: Client;

  beforeEach(async () => {
    client = await Client.start();
  });

  afterEach(() => client.close());

  const addresses = (): object => ({
    QueueTimeOutURL: client.urlOf("/timeouts/b0"),
    ResultURL: client.urlOf("/callbacks/b0"),
  });

  function payBusiness(differing: object, path = "/mpesa/b2b/v1/paymentrequest"): ReturnType<Client["post"]> {
    return client.post(path, {
      Initiator: client.daraja.organization.initiatorName,
      SecurityCredential: encrypted(client.daraja.organization.initiatorPassword),
      CommandID: "BusinessBuyGoods",
      SenderIdentifierType: "4",
      RecieverIdentifierType: "4",
      Amount: 100,
      PartyA: SHORTCODE,
      PartyB: "555000",
      AccountReference: "rent",
      Remarks: "rent",
      ...addresses(),
      ...differing,
    });
  }

  async function resultCode(): Promise<unknown> {
    await client.clock.advance(5_000);
    return (client.lastAt("/callbacks/b0") as Result).Result.ResultCode;
  }

  describe("B2C v1", () => {
    it("has no id of the caller, so each request is paid", async () => {
      const withoutId = { OriginatorConversationID: undefined, Occassion: undefined, Occasion: "x" };
      for (const amount of [50, 50]) {
        const { status, body } = await client.payOut(PHONE, { ...withoutId, Amount: amount }, "v1");
        expect(status).to.equal(200);
        expect(body?.["OriginatorConversationID"]).to.match(/^\d{5}-\d{8}-1$/);
      }
      expect(await resultCode()).to.equal(0);
      expect(client.daraja.receipts).to.have.length(2);
    });

    it("does not take the id that a caller sends all the same", async () => {
      const { body } = await client.payOut(PHONE, { OriginatorConversationID: "mine" }, "v1");
      expect(body?.["OriginatorConversationID"]).not.to.equal("mine");
    });
  });

  describe("Pochi", () => {
    const path = "/mpesa/b2pochi/v1/paymentrequest";

    it("pays a phone out of the utility account, once by its id", async () => {
      const request = { CommandID: "BusinessPayToPochi" };
      expect((await client.payOut(PHONE, request, path)).status).to.equal(200);
      expect((await client.payOut(PHONE, request, path)).body?.["errorCode"]).to.equal("500.002.1001");
      expect(await resultCode()).to.equal(0);
      expect(client.daraja.organization.utilityCents).to.equal(100_000_000 - 10_000);
    });

    it("takes its own command alone", async () => {
      expect((await client.payOut(PHONE, {}, path)).body?.["errorMessage"]).to.contain("CommandID");
    });
  });

  describe("B2B", () => {
    it("moves a top-up from the working to the utility account of the shortcode", async () => {
      const topUp = { CommandID: "BusinessPayToBulk", PartyB: SHORTCODE, AccountReference: undefined };
      expect((await payBusiness(topUp)).status).to.equal(200);
      expect(await resultCode()).to.equal(0);
      expect(client.daraja.organization).to.include({ workingCents: 69_990_000, utilityCents: 100_010_000 });
      expect(await statement()).to.contain("Business Pay To Bulk. Original conversation ID is");
    });

    it("pays a tax by a path of its own", async () => {
      const tax = { CommandID: "PayTaxToKRA", PartyB: "572572", AccountReference: "353353" };
      expect((await payBusiness(tax)).status, "at the path of payments").to.equal(400);
      expect((await payBusiness(tax, "/mpesa/b2b/v1/remittax")).status).to.equal(200);
      expect(await resultCode()).to.equal(0);
      expect(await statement()).to.contain("Pay Tax To KRA");
    });

    for (const [setting, type, code] of [
      [null, "4", 0],
      [null, "2", 0],
      [2, "2", 0],
      [2, "4", "SFC_IC0003"],
      [4, "2", "SFC_IC0003"],
    ] as const) {
      it(`ends a till of type ${type} with ${String(code)}, where the setting is ${String(setting)}`, async () => {
        await client.control("/settings", { till_identifier_type: setting });
        expect((await payBusiness({ RecieverIdentifierType: type })).status).to.equal(200);
        expect(await resultCode()).to.equal(code);
      });
    }

    it("takes a paybill as type 4 alone", async () => {
      const { status } = await payBusiness({ CommandID: "BusinessPayBill", RecieverIdentifierType: "2" });
      expect(status).to.equal(400);
    });

    async function statement(): Promise<string> {
      return (await fetch(`${client.daraja.url}/simulator/statement`)).text();
    }
  });

  describe("C2B simulate", () => {
    const payment = {
      ShortCode: SHORTCODE,
      CommandID: "CustomerPayBillOnline",
      Amount: 70,
      Msisdn: PHONE,
      BillRefNumber: "shop 7",
    };

    for (const version of ["v1", "v2"]) {
      it(`pays as a customer does, and confirms it, by ${version}`, async () => {
        await client.registerUrls({}, version);
        const { status, body } = await client.post(`/mpesa/c2b/${version}/simulate`, payment);
        expect(status).to.equal(200);
        expect(body).to.include({ ResponseCode: "0" });
        await client.clock.advance(2_000);
        expect(client.lastAt("/confirmations")).to.include({
          TransID: client.daraja.receipts[0]?.number,
          TransAmount: "70",
          BillRefNumber: "shop 7",
        });
      });
    }

    for (const [field, value] of [
      ["ShortCode", "600000"],
      ["CommandID", "CustomerBuyGoodsOnline"],
      ["Amount", "7.5"],
      ["Msisdn", "0700000000"],
      ["BillRefNumber", null],
    ] as const) {
      it(`is refused with ${field} ${String(value)}`, async () => {
        const { body } = await client.post("/mpesa/c2b/v1/simulate", { ...payment, [field]: value });
        expect(body).to.include({ errorMessage: `Bad Request - Invalid ${field}` });
      });
    }
  });

  describe("QR", () => {
    const request = {
      MerchantName: "SIMULATED SHOP",
      RefNo: "Invoice 7",
      Amount: 20,
      TrxCode: "PB",
      CPI: SHORTCODE,
      Size: "300",
    };

    it("answers with a picture whose modules hold the fields", async () => {
      const { status, body } = await client.post("/mpesa/qrcode/v1/generate", request);
      expect(status).to.equal(200);
      const png = Buffer.from(String(body?.["QRCode"]), "base64");
      expect(pictureOf(png)).to.deep.equal(qrModules("PB|174379|20|Invoice 7|SIMULATED SHOP"));
    });

    for (const [characters, size] of [
      [17, 21],
      [18, 25],
      [106, 37],
      [107, undefined],
    ] as const) {
      it(`has ${String(size)} modules a side for ${String(characters)} characters`, () => {
        expect(qrModules("x".repeat(characters))?.length).to.equal(size);
      });
    }

    it("refuses fields that are too long together", async () => {
      const long = { ...request, MerchantName: "x".repeat(60), RefNo: "x".repeat(40) };
      expect((await client.post("/mpesa/qrcode/v1/generate", long)).status).to.equal(400);
    });
  });

  it("reads null as a field that is absent", async () => {
    await client.payOut(PHONE, { Occassion: null });
    await client.clock.advance(5_000);
    const [receipt] = client.daraja.receipts;
    const byReceipt = { TransactionID: receipt?.number, OriginalConversationID: null, Occasion: null };
    expect((await client.queryStatus(byReceipt)).status).to.equal(200);
    expect((await client.queryStatus({ TransactionID: null })).body).to.include({ ResponseCode: "0" });
    expect((await client.payOut(PHONE, { OriginatorConversationID: null })).status).to.equal(400);
  });

  describe("names", () => {
    const BUSINESS = "/sfcverify/v1/query/info";
    const OWNER = "/mpesa/b2c/hakikisha/v1/hakikisha";
    const ofOwner = ({ header = {}, body = {} } = {}): ReturnType<Client["post"]> =>
      client.post(OWNER, {
        header: { requestID: "8aeefeea", timestamp: "1748933384", ...header },
        body: { msisdn: PHONE, shortcode: SHORTCODE, ...body },
      });

    it("are told of a paybill and of a till, with the code that the setting names", async () => {
      const told = await client.post(BUSINESS, { IdentifierType: "4", Identifier: "247247" });
      expect(told.status).to.equal(200);
      const name = { OrganizationShortCode: "247247", OrganizationName: "Simulated Business 247247" };
      expect(told.body).to.include({ ResponseCode: "4000", ResponseMessage: "Success", ...name });
      await client.control("/settings", { org_info_success: "0" });
      const till = await client.post(BUSINESS, { IdentifierType: "2", Identifier: "5432300" });
      expect(till.body).to.include({ ResponseCode: "0", OrganizationName: "Simulated Business 5432300" });
    });

    it("are hidden but for the first one of a phone's owner", async () => {
      const { status, body } = await ofOwner();
      expect(status).to.equal(200);
      expect(body?.["header"]).to.include({ requestID: "8aeefeea", status: "200", message: "Success" });
      expect(body?.["body"]).to.deep.equal({ firstName: "JANE", middleName: "S********", lastName: "D**" });
    });

    it("are not told of numbers that no payout reaches", async () => {
      const business = await client.post(BUSINESS, { IdentifierType: "4", Identifier: "247201" });
      expect(business.body).to.include({ ResponseCode: "1" }).and.not.have.property("OrganizationName");
      for (const msisdn of ["254110000001", "254733000000"]) {
        const { status, body } = await ofOwner({ body: { msisdn } });
        expect(status).to.equal(400);
        expect(body).to.have.nested.property("body.message", "The customer does not exist.");
      }
    });

    for (const [path, request, field] of [
      [BUSINESS, { IdentifierType: "1", Identifier: "247247" }, "IdentifierType"],
      [BUSINESS, { IdentifierType: "4", Identifier: "24724777" }, "Identifier"],
      [OWNER, { header: {} }, "body"],
      [OWNER, { header: [], body: {} }, "header"],
      [OWNER, { header: { timestamp: "1748933384" }, body: {} }, "requestID"],
      [OWNER, { header: { requestID: "1", timestamp: "now" }, body: {} }, "timestamp"],
      [OWNER, { header: { requestID: "1", timestamp: "1748933384" }, body: { msisdn: "0712" } }, "msisdn"],
    ] as const) {
      it(`are refused to a request with a wrong ${field} at ${path}`, async () => {
        const { status, body } = await client.post(path, request);
        expect([status, body?.["errorCode"]]).to.deep.equal([400, "400.002.02"]);
        expect(body?.["errorMessage"]).to.equal(`Bad Request - Invalid ${field}`);
      });
    }

    it("of phones are refused with the shortcode of another", async () => {
      expect((await ofOwner({ body: { shortcode: "600000" } })).body?.["errorMessage"]).to.match(/Invalid shortcode/);
    });

    it("are lacking where Safaricom has not given the app the product", async () => {
      await client.control("/settings", { lacks_product: "/sfcverify" });
      const { status, body } = await client.post(BUSINESS, { IdentifierType: "4", Identifier: "247247" });
      expect([status, body?.["errorCode"]]).to.deep.equal([401, "401.003.01"]);
      expect((await ofOwner()).status, "the other one").to.equal(200);
      await client.control("/settings", { lacks_product: "/mpesa/b2c/hakikisha" });
      expect((await ofOwner()).body?.["errorCode"]).to.equal("401.003.01");
      expect((await client.payOut(PHONE)).status, "payouts go on").to.equal(200);
    });
  });

  for (const path of [
    "/standingorder/v1/createStandingOrderExternal",
    "/v1/billmanager-invoice/optin",
    "/v1/ussdpush/get-msisdn",
    "/imsi/v1/checkATI",
  ]) {
    it(`names the product of ${path} as not simulated`, async () => {
      const { status, body } = await client.post(path, {});
      expect(status).to.equal(501);
      expect(body?.["errorMessage"]).to.match(/^Not simulated: \S/);
    });
  }

  it("says of a path that Safaricom has not that it is none", async () => {
    expect((await client.post("/mpesa/b2c/v9/paymentrequest", {})).body?.["errorCode"]).to.equal("404.001.01");
  });
});

/** The modules of a PNG, by its top left one of each square; without the quiet zone. */
function pictureOf(png: Buffer): boolean[][] {
  const width = png.readUInt32BE(16);
  const start = png.indexOf("IDAT") + 4;
  const pixels = inflateSync(png.subarray(start, start + png.readUInt32BE(start - 8)));
  const isDark = (x: number, y: number): boolean => pixels[y * (width + 1) + 1 + x] === 0;
  let first = 0;
  while (!isDark(first, first)) first += 1;
  const scale = first / 4;
  const modules = width / scale - 8;
  return Array.from({ length: modules }, (_, y) =>
    Array.from({ length: modules }, (__, x) => isDark(first + x * scale, first + y * scale)),
  );
}
