import { expect } from "chai";

import { GatewayFixture } from "../../support/gateway-fixture.js";

describe("the gateway's paths", () => {
  const fixture = new GatewayFixture();
  before(() => fixture.start());
  after(() => fixture.stop());

  for (const path of [
    "/",
    "/v1",
    "/v2/accounts",
    "/v1/v1/accounts",
    "/Accounts",
    "/V1/accounts",
    "/accounts/",
    "/accounts//freeze",
    "/accounts/acc_1/melt",
    "/accounts/acc_1/freeze/",
    "/v1/livez",
  ]) {
    it(`do not include ${path}`, async () => {
      const answer = await fixture.send("GET", path);
      expect(answer.status).to.equal(404);
      expect(answer.headers).to.include({ "content-type": "application/problem+json", "cache-control": "no-store" });
      expect(answer.headers).to.have.property("x-request-id", answer.json["request_id"]);
      expect(answer.json).to.deep.include({
        type: "/errors/no-such-route",
        title: "No such route",
        code: "NO_SUCH_ROUTE",
      });
    });
  }

  for (const [path, allow] of [
    ["/accounts", "POST, GET, HEAD, OPTIONS"],
    ["/v1/accounts", "POST, GET, HEAD, OPTIONS"],
    ["/accounts/acc_1", "GET, HEAD, OPTIONS"],
    ["/accounts/acc_1/freeze", "POST, OPTIONS"],
    // Fixed text comes before a field: this is no transaction with the id "mint".
    ["/transactions/mint", "POST, OPTIONS"],
    ["/transactions/txn_1", "GET, HEAD, OPTIONS"],
    ["/livez", "GET, HEAD, OPTIONS"],
  ] as const) {
    it(`answer ${path} with 405 and the methods that it has, and OPTIONS with the same`, async () => {
      const wrong = await fixture.send("PATCH", path);
      expect([wrong.status, wrong.headers.allow, wrong.json["code"]]).to.deep.equal([405, allow, "METHOD_NOT_ALLOWED"]);
      const options = await fixture.send("OPTIONS", path);
      expect([options.status, options.headers.allow, options.text]).to.deep.equal([204, allow, ""]);
    });
  }

  it("tell GET from HEAD and POST where only one of them is served", async () => {
    expect((await fixture.send("GET", "/transactions/mint")).status).to.equal(405);
    expect((await fixture.send("HEAD", "/transactions/mint")).status).to.equal(405);
    expect((await fixture.send("POST", "/transactions/txn_1")).status).to.equal(405);
  });

  for (const path of ["/accounts/%zz", "/accounts/%ff", "/accounts/%", "/%c3", "/v1/accounts/%e0%a4/freeze"]) {
    it(`answer ${path}, which is no percent-encoding, with 400`, async () => {
      const { status, json } = await fixture.send("GET", path);
      expect([status, json["code"]]).to.deep.equal([400, "INVALID_FIELD"]);
      expect(json["errors"]).to.deep.equal([{ field: "path", message: "must be percent-encoded UTF-8" }]);
    });
  }

  it("carry the headers that keep browsers out of trouble, and none that name the software", async () => {
    const { headers } = await fixture.send("GET", "/accounts");
    expect(headers).to.include({ "x-content-type-options": "nosniff", "cache-control": "no-store" });
    expect(headers).not.to.have.any.keys("x-powered-by", "etag");
  });
});
