import { status } from "@grpc/grpc-js";
import { expect } from "chai";

import type { FakeRefusal } from "../../support/fake-server.js";
import { GatewayFixture } from "../../support/gateway-fixture.js";

const INTERNAL_DETAIL = "Internal error. The operator of this service can find it in the log by the request_id.";

describe("a refusal of the server", () => {
  const fixture = new GatewayFixture();
  before(() => fixture.start());
  after(() => fixture.stop());
  const refuse = (refusal: FakeRefusal, headers: Record<string, string> = {}) => {
    fixture.server.handle = () => ({ refusal });
    return fixture.send("GET", "/transactions/txn_1", { headers });
  };

  it("is a problem with its facts, and money among them as numbers", async () => {
    const answer = await refuse(
      {
        code: status.FAILED_PRECONDITION,
        text: "There is 50.00 available; 100.00 was asked for.",
        reason: "INSUFFICIENT_FUNDS",
        facts: { available: "50.00", requested: "100.00", account_id: "acc_1", code: "no", errors: "no", status: "7" },
      },
      { "x-request-id": "mine" },
    );
    expect(answer.status).to.equal(422);
    expect(answer.headers).to.include({ "content-type": "application/problem+json", "x-request-id": "mine" });
    expect(answer.text).to.equal(
      '{"type":"/errors/insufficient-funds","title":"Insufficient funds","status":422,' +
        '"detail":"There is 50.00 available; 100.00 was asked for.","code":"INSUFFICIENT_FUNDS","request_id":"mine",' +
        '"available":50.00,"requested":100.00,"account_id":"acc_1"}',
    );
  });

  it("names every bad field", async () => {
    const violations = [
      ["amount", "is required"],
      ["reference", "is too long"],
    ] as const;
    const { json } = await refuse({ code: status.INVALID_ARGUMENT, text: "Bad.", reason: "INVALID_FIELD", violations });
    expect(json).to.deep.include({
      status: 400,
      code: "INVALID_FIELD",
      detail: "Invalid request: amount is required; reference is too long",
      errors: [
        { field: "amount", message: "is required" },
        { field: "reference", message: "is too long" },
      ],
    });
  });

  for (const [code, httpStatus] of [
    [status.INVALID_ARGUMENT, 400],
    [status.OUT_OF_RANGE, 400],
    [status.UNAUTHENTICATED, 401],
    [status.PERMISSION_DENIED, 403],
    [status.NOT_FOUND, 404],
    [status.ALREADY_EXISTS, 409],
    [status.ABORTED, 409],
    [status.FAILED_PRECONDITION, 422],
    [status.RESOURCE_EXHAUSTED, 429],
    [status.CANCELLED, 499],
    [status.UNIMPLEMENTED, 501],
    [status.UNAVAILABLE, 503],
    [status.DEADLINE_EXCEEDED, 504],
  ] as const) {
    it(`of ${status[code]} is ${String(httpStatus)}, with the server's own reason and words`, async () => {
      const { status: answered, json } = await refuse({ code, text: "Words.", reason: "SOME_REASON" });
      expect(answered).to.equal(httpStatus);
      expect(json).to.include({ status: httpStatus, code: "SOME_REASON", title: "Some reason", detail: "Words." });
    });
  }

  for (const code of [status.INTERNAL, status.UNKNOWN, status.DATA_LOSS]) {
    it(`of ${status[code]} lets nothing from inside out`, async () => {
      const facts = { table: "accounts" };
      const { status: answered, text, json } = await refuse({ code, text: "SQL", reason: "BUG", facts });
      expect(answered).to.equal(500);
      expect(json).to.include({ code: "INTERNAL", detail: INTERNAL_DETAIL });
      expect(text).not.to.match(/SQL|BUG|table/);
    });
  }

  it("for want of a key asks for one, and says nothing more in that header", async () => {
    const { headers } = await refuse({ code: status.UNAUTHENTICATED, text: "secret", reason: "INVALID_API_KEY" });
    expect(headers["www-authenticate"]).to.equal('Bearer realm="kesc"');
  });

  for (const [retryDelay, seconds] of [
    ["3s", "3"],
    ["1.2s", "2"],
    ["0.05s", "1"],
    ["0s", "1"],
  ] as const) {
    it(`to retry after ${retryDelay} says ${seconds} whole seconds`, async () => {
      const { headers } = await refuse({ code: status.RESOURCE_EXHAUSTED, reason: "QUEUE_FULL", retryDelay });
      expect(headers["retry-after"]).to.equal(seconds);
    });
  }

  for (const [code, httpStatus, problemCode, retryAfter] of [
    [status.UNAVAILABLE, 503, "SERVER_UNREACHABLE", "1"],
    [status.DEADLINE_EXCEEDED, 504, "DEADLINE_EXCEEDED", undefined],
    [status.UNIMPLEMENTED, 500, "INTERNAL", undefined],
    [status.RESOURCE_EXHAUSTED, 429, "QUEUE_FULL", "1"],
    [status.UNAUTHENTICATED, 500, "INTERNAL", undefined],
    [status.UNKNOWN, 500, "INTERNAL", undefined],
  ] as const) {
    it(`of ${status[code]} without a reason is ${problemCode}, in the gateway's words`, async () => {
      const { status: answered, json, text, headers } = await refuse({ code, text: "from inside" });
      expect([answered, json["code"], headers["retry-after"]]).to.deep.equal([httpStatus, problemCode, retryAfter]);
      expect(text).not.to.include("from inside");
    });
  }

  it("that never comes is DEADLINE_EXCEEDED", async () => {
    fixture.server.handle = async (call) => {
      await call.cancelled;
      return {};
    };
    const { status: answered, json } = await fixture.send("GET", "/transactions", {
      headers: { "grpc-timeout": "100m" },
    });
    expect([answered, json["code"]]).to.deep.equal([504, "DEADLINE_EXCEEDED"]);
  });

  it("is SERVER_UNREACHABLE while there is no server, and over as soon as there is one again", async () => {
    fixture.server.stop();
    const { status: answered, json } = await fixture.send("GET", "/transactions");
    expect([answered, json["code"]]).to.deep.equal([503, "SERVER_UNREACHABLE"]);
    fixture.server.handle = () => ({});
    await fixture.server.start();
    let attempts = 0;
    let last = 503;
    while (last === 503 && attempts < 50) {
      await new Promise((resolve) => setTimeout(resolve, 100));
      last = (await fixture.send("GET", "/transactions")).status;
      attempts += 1;
    }
    expect(last).to.equal(200);
  });
});
