import { expect } from "chai";

import { GatewayFixture } from "../../support/gateway/fixture.js";

describe("the methods of a path", () => {
  const fixture = GatewayFixture.ofSuite();

  for (const [path, allow] of [
    ["/accounts", "POST, GET, HEAD, OPTIONS"],
    ["/v1/accounts", "POST, GET, HEAD, OPTIONS"],
    ["/accounts/acc_1", "GET, PATCH, HEAD, OPTIONS"],
    ["/accounts/acc_1/freeze", "POST, OPTIONS"],
    // Fixed text comes before a field: this path is not a transaction with the id "mint".
    ["/transactions/mint", "POST, OPTIONS"],
    ["/transactions/txn_1", "GET, HEAD, OPTIONS"],
    ["/transactions/txn_1/reverse", "POST, OPTIONS"],
    // A list and a stream share it.
    ["/events", "GET, HEAD, OPTIONS"],
    ["/livez", "GET, HEAD, OPTIONS"],
  ] as const) {
    it(`of ${path} are in the response to OPTIONS, and in the 405 to any other method`, async () => {
      const wrong = await fixture.send("DELETE", path);
      expect([wrong.status, wrong.headers.allow, wrong.json["code"]]).to.deep.equal([405, allow, "METHOD_NOT_ALLOWED"]);
      const options = await fixture.send("OPTIONS", path);
      expect([options.status, options.headers.allow, options.text]).to.deep.equal([204, allow, ""]);
    });
  }

  it("exclude GET and HEAD where only POST is served, and POST where only GET is", async () => {
    expect((await fixture.send("GET", "/transactions/mint")).status).to.equal(405);
    expect((await fixture.send("HEAD", "/transactions/mint")).status).to.equal(405);
    expect((await fixture.send("POST", "/transactions/txn_1")).status).to.equal(405);
  });

  it("include HEAD, which has the headers of GET and no body", async () => {
    fixture.server.handle = () => ({ message: { account: { id: "acc_1" } } });
    const get = await fixture.send("GET", "/accounts/acc_1");
    const head = await fixture.send("HEAD", "/accounts/acc_1");
    expect([head.status, head.text]).to.deep.equal([200, ""]);
    expect(head.headers["content-length"]).to.equal(get.headers["content-length"]).and.not.to.equal(undefined);
  });
});
