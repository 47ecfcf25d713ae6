import { expect } from "chai";

import type { DestinationNumber } from "../../../src/domain/destination.js";
import { MPESA_CAPABILITIES } from "../../../src/rails/mpesa/limits.js";
import type { NameAnswer, NamedParty } from "../../../src/rails/rail.js";
import { NOW } from "../support/orders.js";
import { mpesaRail } from "./mpesa-rail.js";
import { afterToken, answering, resetting, type Respond, StubServer } from "./stub-server.js";

const PAYBILL: NamedParty = { kind: "PAYBILL", number: "247247 0123456789" as DestinationNumber };
const TILL: NamedParty = { kind: "TILL", number: "5432321" as DestinationNumber };
const PHONE: NamedParty = { kind: "PHONE", number: "+254708374149" as DestinationNumber };

describe("the name that M-Pesa has for a number", () => {
  let stub: StubServer;

  afterEach(() => stub.stop());

  async function nameOf(party: NamedParty, ...responds: readonly Respond[]): Promise<NameAnswer> {
    stub = await StubServer.start(afterToken(...responds));
    return mpesaRail({ baseUrl: stub.url, capabilities: MPESA_CAPABILITIES }).nameOf(
      party,
      new AbortController().signal,
    );
  }

  /** As on Safaricom's page. */
  const business = (differing: object = {}): Respond =>
    answering(200, {
      ConversationID: "410c-48e1-b4ab-57d897c8c7a0141968",
      ResponseCode: "4000",
      ResponseMessage: "Success",
      DetailedMessage: "Request received successfully",
      OrganizationShortCode: "247247",
      OrganizationName: "Daraja",
      ChargeProfileID: "20013",
      ...differing,
    });

  const owner = (status: string, body: object, httpStatus = 200): Respond =>
    answering(httpStatus, { header: { requestID: "1", timestamp: "1748933384", status, message: "x" }, body });

  const error = (httpStatus: number, errorCode: string, errorMessage: string): Respond =>
    answering(httpStatus, { requestId: "1", errorCode, errorMessage });

  it("is asked for a paybill without the account number, and without the initiator", async () => {
    expect(await nameOf(PAYBILL, business())).to.deep.equal({ kind: "told", name: "Daraja" });
    expect(stub.orders).to.have.length(1);
    expect(stub.orders[0]?.path).to.equal("/sfcverify/v1/query/info");
    expect(stub.orders[0]?.body).to.deep.equal({ IdentifierType: "4", Identifier: "247247" });
  });

  it("is asked for a till, whose shortcode may be that of its store", async () => {
    expect(await nameOf(TILL, business({ ResponseCode: "0" }))).to.deep.equal({ kind: "told", name: "Daraja" });
    expect(stub.orders[0]?.body).to.deep.equal({ IdentifierType: "2", Identifier: "5432321" });
  });

  it("is asked for a phone with our shortcode, an id and the time", async () => {
    const body = { firstName: "john", middleName: "M******", lastName: "M******" };
    expect(await nameOf(PHONE, owner("200", body))).to.deep.equal({ kind: "told", name: "john M****** M******" });
    expect(stub.orders[0]?.path).to.equal("/mpesa/b2c/hakikisha/v1/hakikisha");
    const { header, body: asked } = stub.orders[0]?.body as Record<string, Record<string, string>>;
    expect(asked).to.deep.equal({ msisdn: "254708374149", shortcode: "600992" });
    expect(header?.["requestID"]).to.match(/^[0-9a-f-]{36}$/);
    expect(header?.["timestamp"]).to.equal(String(Math.floor(NOW / 1_000)));
  });

  it("of a phone never has more than the first name whole, whatever M-Pesa sends", async () => {
    const whole = { firstName: "Jane", middleName: "Wanjiku", lastName: "Doe" };
    expect(await nameOf(PHONE, owner("200", whole))).to.deep.equal({ kind: "told", name: "Jane W****** D******" });
  });

  for (const [what, party, respond, expected] of [
    ["a number that it does not know", PAYBILL, business({ ResponseCode: "1", OrganizationName: undefined }), "none"],
    ["a refusal with a name", PAYBILL, business({ ResponseCode: "1" }), "none"],
    ["an answer without a name", TILL, business({ OrganizationName: " " }), "none"],
    ["an answer about another paybill", PAYBILL, business({ OrganizationShortCode: "247248" }), "none"],
    ["a customer that does not exist", PHONE, owner("400", { message: "no" }, 400), "none"],
    ["a phone without names", PHONE, owner("200", {}), "none"],
    ["a field that it refuses", TILL, error(400, "400.002.02", "Bad Request - Invalid Identifier"), "none"],
    ["a product that the app lacks", PHONE, error(401, "401.003.01", "no apiproduct match found"), "lacking"],
    ["a path that is not there", TILL, error(404, "404.001.01", "Resource not found"), "lacking"],
    ["an overload", TILL, error(500, "500.003.02", "Spike Arrest Violation"), "unanswered"],
    ["an error inside", TILL, error(500, "500.003.1001", "Internal Server Error"), "unanswered"],
    ["an answer without any code", TILL, answering(200, {}), "unanswered"],
    ["a reset", PHONE, resetting, "unanswered"],
  ] as const) {
    it(`is ${expected} after ${what}, and asked once`, async () => {
      expect((await nameOf(party, respond)).kind).to.equal(expected);
      expect(stub.orders).to.have.length(1);
    });
  }

  it("is asked again with a new token where the first one is invalid", async () => {
    const refused = error(401, "401.001", "Invalid Access Token");
    expect((await nameOf(PAYBILL, refused, business())).kind).to.equal("told");
  });
});
