import { expect } from "chai";

import { GatewayFixture } from "../../support/gateway/fixture.js";
import { ToysGateway } from "../../support/gateway/toys-gateway.js";

describe("the routes of an unknown contract", () => {
  const gateway = ToysGateway.ofSuite();
  const { server } = gateway;
  beforeEach(() => server.calls.splice(0));

  it("take a body that is one field, and show a location that has two fields", async () => {
    server.handle = () => ({ message: { name: "bear & co", box: "big", price: "12.50" } });
    const headers = { "content-type": "application/json" };
    const body = '{"price": 12.50, "inner": {"color": "deep_blue"}}';
    const answer = await gateway.fetch(`/v1/boxes/big/toys?is_gift=true`, { method: "POST", headers, body });
    expect(answer.status).to.equal(201);
    expect(answer.headers.get("location")).to.equal("/v1/boxes/big/toys/bear%20%26%20co");
    expect(await answer.text()).to.include('"name":"bear & co","box":"big","price":12.50,');
    expect(server.takeCall()).to.deep.include({
      rpc: "BuildToy",
      message: { box: "big", toy: { price: "12.5", inner: { color: "COLOR_DEEP_BLUE" } }, is_gift: true },
    });
  });

  it("return one field of the response", async () => {
    server.handle = () => ({ message: { toys: [{ name: "a" }, { name: "b" }] } });
    const toys = (await (await gateway.fetch(`/boxes/big/toys?count=7`)).json()) as { name: string }[];
    expect(toys.map(({ name }) => name)).to.deep.equal(["a", "b"]);
    expect(server.takeCall().message).to.deep.equal({ box: "big", count: 7 });
  });
});

describe("the gateway's paths", () => {
  const fixture = GatewayFixture.ofSuite();

  for (const path of [
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
      const { status, headers, json } = await fixture.send("GET", path);
      expect(status).to.equal(404);
      expect(headers).to.include({ "content-type": "application/problem+json", "x-request-id": json["request_id"] });
      expect(json).to.include({ type: "/errors/no-such-route", title: "No such route", code: "NO_SUCH_ROUTE" });
    });
  }

  for (const path of ["/accounts/%zz", "/accounts/%ff", "/accounts/%", "/%c3", "/v1/accounts/%e0%a4/freeze"]) {
    it(`refuse ${path}, which is not percent-encoded UTF-8`, async () => {
      const { status, json } = await fixture.send("GET", path);
      expect([status, json["code"]]).to.deep.equal([400, "INVALID_FIELD"]);
      expect(json["errors"]).to.deep.equal([
        { field: "path", code: "FORMAT", message: "must be percent-encoded UTF-8" },
      ]);
    });
  }

  it("return no header that names the software", async () => {
    const { headers } = await fixture.send("GET", "/accounts");
    expect(headers).not.to.have.any.keys("x-powered-by", "etag");
  });
});
