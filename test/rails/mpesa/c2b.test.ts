import { expect } from "chai";

import type { MpesaSettings } from "../../../src/rails/mpesa/settings.js";
import { mpesaRail } from "./mpesa-rail.js";
import { afterToken, answering, resetting, type Respond, StubServer } from "./stub-server.js";

const NEVER = new AbortController().signal;
const URLS = { confirmationUrl: "https://kesc.test/callbacks/c0", validationUrl: "https://kesc.test/callbacks/f0" };
const SUCCESS = answering(200, { OriginatorCoversationID: "1c5b", ResponseCode: "0", ResponseDescription: "Success" });

describe("payments by hand at M-Pesa: the registration", () => {
  let stub: StubServer;

  afterEach(() => stub.stop());

  async function register(respond: Respond, given: Partial<MpesaSettings> = {}): Promise<string | undefined> {
    stub = await StubServer.start(afterToken(respond));
    return mpesaRail({ baseUrl: stub.url, ...given }).registerForDeposits(URLS, NEVER);
  }

  for (const [c2bVersion, whenUnreachable] of [
    [1, "Cancelled"],
    [2, "Completed"],
  ] as const) {
    it(`names both addresses, by version ${String(c2bVersion)} with ${whenUnreachable}`, async () => {
      expect(await register(SUCCESS, { c2bVersion, whenUnreachable })).to.equal(undefined);
      expect(stub.orders.map(({ path, body }) => [path, body])).to.deep.equal([
        [
          `/mpesa/c2b/v${String(c2bVersion)}/registerurl`,
          {
            ShortCode: "174379",
            ResponseType: whenUnreachable,
            ConfirmationURL: URLS.confirmationUrl,
            ValidationURL: URLS.validationUrl,
          },
        ],
      ]);
    });
  }

  const PATH = "/mpesa/c2b/v2/registerurl";
  const error = (errorCode: string, errorMessage: string): Respond =>
    answering(500, { requestId: "1", errorCode, errorMessage });
  for (const [what, respond, code] of [
    ["addresses that are registered", error("500.003.1001", "Urls are already registered."), "URLS_ALREADY_REGISTERED"],
    ["a duplicate of another platform", error("500.003.1001", "Duplicate notification info"), `500.003.1001 ${PATH}`],
    ["a product that the app lacks", error("401.003.01", "no apiproduct match found"), `401.003.01 ${PATH}`],
    ["another ResponseCode", answering(200, { ResponseCode: "1" }), `1 ${PATH}`],
    // M-Pesa keeps the addresses in these forms, too.
    ["an answer without a code", answering(200, { ResponseDescription: "success" }), undefined],
    ["an answer with eight zeros", answering(200, { ResponseCode: "00000000" }), undefined],
    ["a reset", resetting, "ECONNRESET"],
  ] as const) {
    it(`returns a code for ${what}`, async () => {
      expect(await register(respond)).to.equal(code);
    });
  }
});

describe("payments by hand at M-Pesa: the question of a validation", () => {
  const rail = mpesaRail();
  const question = (fields: Readonly<Record<string, unknown>>): unknown =>
    rail.readQuestion(
      JSON.stringify({ TransID: "RKTQDM7W6S", TransAmount: "10", BillRefNumber: "23456789", ...fields }),
    );

  it("has what the payer typed, and the amount", () => {
    expect(question({})).to.deep.equal({ reference: "23456789", amountCents: 10_00 });
    expect(question({ BillRefNumber: 23456789, TransAmount: 5 })).to.deep.equal({
      reference: "23456789",
      amountCents: 5_00,
    });
    expect(question({ BillRefNumber: "", TransAmount: "5.00" })).to.deep.equal({ reference: "", amountCents: 5_00 });
    expect(question({ TransAmount: "much" })).to.deep.equal({ reference: "23456789", amountCents: undefined });
  });

  it("is none about a push, whose reference has 12 characters, and none in another text", () => {
    expect(question({ BillRefNumber: "W3XHB1Z7Q4YE" })).to.equal(undefined);
    expect(question({ TransAmount: undefined })).to.equal(undefined);
    for (const text of ["", "null", "[]", "{}", "<html>"]) expect(rail.readQuestion(text), text).to.equal(undefined);
  });

  it("is answered with Safaricom's codes", () => {
    const codes = (["can be credited", "no account", "wrong amount"] as const).map((verdict) => rail.answerTo(verdict));
    expect(codes).to.deep.equal([
      '{"ResultCode":"0","ResultDesc":"Accepted"}',
      '{"ResultCode":"C2B00012","ResultDesc":"Rejected"}',
      '{"ResultCode":"C2B00013","ResultDesc":"Rejected"}',
    ]);
  });
});
