import { expect } from "chai";

import { base64, Client } from "./client.js";

const PHONE = "254700000000";

describe("the simulator's access", () => {
  let client: Client;

  beforeEach(async () => {
    client = await Client.start();
  });

  afterEach(() => client.close());

  it("gives out a token of 28 characters, and its life as a text or a number", async () => {
    const [first, second] = [await client.authorize(), await client.authorize()];
    expect(first.status).to.equal(200);
    expect(first.body?.["access_token"]).to.match(/^[a-z0-9]{28}$/);
    expect([first.body?.["expires_in"], second.body?.["expires_in"]]).to.have.members([3_599, "3599"]);
  });

  for (const [name, request, errorCode] of [
    ["without Basic", { authorization: "Bearer x" }, "400.008.01"],
    ["with a wrong secret", { authorization: `Basic ${base64("simulated-consumer-key:x")}` }, "400.008.01"],
    ["with another grant type", { grantType: "password" }, "400.008.02"],
  ] as const) {
    it(`refuses a request for a token ${name}`, async () => {
      const { status, body } = await client.authorize(request);
      expect([status, body?.["errorCode"]]).to.deep.equal([400, errorCode]);
    });
  }

  for (const [product, path, status, errorCode] of [
    ["STK push", "/mpesa/stkpush/v1/processrequest", 404, "404.001.03"],
    ["STK query", "/mpesa/stkpushquery/v1/query", 404, "404.001.03"],
    ["B2C", "/mpesa/b2c/v3/paymentrequest", 401, "401.002.01"],
    ["account balance", "/mpesa/accountbalance/v1/query", 401, "401.002.01"],
    ["transaction status", "/mpesa/transactionstatus/v1/query", 400, "400.003.01"],
    ["C2B", "/mpesa/c2b/v2/registerurl", 400, "400.003.01"],
    ["the name of a business", "/sfcverify/v1/query/info", 401, "401.001"],
    ["the name of a phone", "/mpesa/b2c/hakikisha/v1/hakikisha", 401, "401.001"],
    ["pull transactions", "/pulltransactions/v1/query", 400, "400.003.01"],
  ] as const) {
    it(`reports an invalid token of ${product} as ${errorCode}`, async () => {
      const answer = await client.post(path, {}, "unknown");
      expect([answer.status, answer.body?.["errorCode"]]).to.deep.equal([status, errorCode]);
      expect(answer.body?.["requestId"]).to.match(/^[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\d{7}$/);
    });
  }

  it("takes the newest token alone", async () => {
    await client.authorize();
    expect((await client.push(PHONE)).body?.["errorCode"]).to.equal("404.001.03");
  });

  it("takes a token until its life has passed", async () => {
    await client.clock.advance(3_598_000);
    expect((await client.push(PHONE)).status).to.equal(200);
    await client.clock.advance(1_000);
    expect((await client.push(PHONE)).body?.["errorCode"]).to.equal("404.001.03");
  });

  it("refuses an unknown path, another method, and a body that is no JSON object", async () => {
    const answers = [
      await client.post("/mpesa/b2c/v2/paymentrequest", {}),
      await client.post("//", {}),
      await client.post("/mpesa/stkpush/v1/processrequest", "{"),
      await client.post("/mpesa/stkpush/v1/processrequest", "[]"),
    ];
    expect(answers.map(({ status, body }) => [status, body?.["errorCode"]])).to.deep.equal([
      [404, "404.001.01"],
      [404, "404.001.01"],
      [400, "400.002.05"],
      [400, "400.002.05"],
    ]);
    const response = await fetch(`${client.daraja.url}/mpesa/stkpush/v1/processrequest`);
    expect(response.status).to.equal(405);
    expect(await response.json()).to.include({ errorCode: "405.001" });
  });
});
