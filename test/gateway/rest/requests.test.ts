import { once } from "node:events";
import { request } from "node:http";
import { setTimeout } from "node:timers/promises";

import { status } from "@grpc/grpc-js";
import { expect } from "chai";

import type { ReceivedCall } from "../../support/fake-server.js";
import { GatewayFixture } from "../../support/gateway-fixture.js";

const TRANSACTION = {
  id: "txn_1",
  account_id: "acc_1",
  type: "TRANSACTION_TYPE_MINT",
  status: "TRANSACTION_STATUS_COMPLETED",
  amount: "1000.00",
  source_currency: "KES",
  destination_currency: "KESC",
  reference: "r/1",
  metadata: { order: "7" },
  rail: "direct",
  created_at: "2026-01-31T12:00:00.250Z",
  updated_at: "2026-01-31T12:00:00.250Z",
};
const MINT = '{"account_id": "acc_1", "amount": 1000.00, "reference": "r/1", "metadata": {"order": "7"}}';

describe("a REST request", () => {
  const fixture = new GatewayFixture();
  const { server } = fixture;
  before(() => fixture.start());
  after(() => fixture.stop());
  beforeEach(() => {
    server.handle = () => ({ message: { transaction: TRANSACTION } });
    server.calls.splice(0);
  });

  it("creates a resource: 201, its place, and all of its fields", async () => {
    const answer = await fixture.send("POST", "/transactions/mint", { body: MINT });
    expect(answer.status).to.equal(201);
    expect(answer.headers).to.include({
      location: "/transactions/txn_1",
      "content-type": "application/json; charset=utf-8",
      "cache-control": "no-store",
    });
    expect(answer.text).to.equal(
      '{"id":"txn_1","account_id":"acc_1","type":"mint","status":"completed","status_reason":"","amount":1000.00,' +
        '"source_currency":"KES","destination_currency":"KESC","reference":"r/1","description":"",' +
        '"metadata":{"order":"7"},"rail":"direct","rail_receipt":"","failure":null,' +
        '"created_at":"2026-01-31T12:00:00.250Z","updated_at":"2026-01-31T12:00:00.250Z","completed_at":null}',
    );
    expect(server.takeCall()).to.deep.include({
      rpc: "Mint",
      message: { account_id: "acc_1", amount: "1000.00", reference: "r/1", metadata: { order: "7" } },
    });
  });

  it("is answered the same under /v1, where its place is under /v1 too", async () => {
    const answer = await fixture.send("POST", "/v1/transactions/mint", { body: MINT });
    expect(answer.status).to.equal(201);
    expect(answer.headers.location).to.equal("/v1/transactions/txn_1");
  });

  it("has the resource's id percent-encoded in its place", async () => {
    server.handle = () => ({ message: { transaction: { ...TRANSACTION, id: "a/b c?" } } });
    const answer = await fixture.send("POST", "/transactions/mint", { body: MINT });
    expect(answer.headers.location).to.equal("/transactions/a%2Fb%20c%3F");
  });

  for (const where of ["headers", "trailers"] as const) {
    it(`is marked as a replay that the server tells in its ${where}: 200, and no place`, async () => {
      server.handle = () => ({ message: { transaction: TRANSACTION }, [where]: { "idempotent-replayed": "true" } });
      const answer = await fixture.send("POST", "/transactions/mint", { body: MINT });
      expect(answer.status).to.equal(200);
      expect(answer.headers).to.include({ "idempotent-replayed": "true" }).and.not.to.have.property("location");
    });
  }

  it("that creates nothing is answered 200, replayed or not", async () => {
    server.handle = () => ({ message: { account: { id: "acc_1" } } });
    const first = await fixture.send("POST", "/accounts/acc_1/freeze");
    server.handle = () => ({ message: { account: { id: "acc_1" } }, headers: { "idempotent-replayed": "true" } });
    const second = await fixture.send("POST", "/accounts/acc_1/freeze", { body: '{"reason": "why"}' });
    expect([first.status, first.headers["idempotent-replayed"]]).to.deep.equal([200, undefined]);
    expect([second.status, second.headers["idempotent-replayed"]]).to.deep.equal([200, "true"]);
    expect(server.calls.map(({ message }) => message)).to.deep.equal([
      { account_id: "acc_1" },
      { account_id: "acc_1", reason: "why" },
    ]);
  });

  it("lists, with filters from the query, and answers the whole response", async () => {
    server.handle = () => ({ message: { transactions: [TRANSACTION], next_page_token: "next" } });
    const query = "status=completed&type=mint&created_after=2026-01-31T12:00:00%2B03:00&page_size=7&reference=";
    const answer = await fixture.send("GET", `/transactions?${query}`);
    expect(answer.status).to.equal(200);
    expect(answer.json).to.have.keys("transactions", "next_page_token");
    expect(server.takeCall().message).to.deep.equal({
      type: "TRANSACTION_TYPE_MINT",
      status: "TRANSACTION_STATUS_COMPLETED",
      created_after: "2026-01-31T09:00:00Z",
      page_size: 7,
    });
  });

  it("takes the path's field decoded", async () => {
    server.handle = () => ({ message: { account: {} } });
    await fixture.send("GET", "/accounts/a%2Fb%20%C3%A9+");
    expect(server.takeCall().message).to.deep.equal({ account_id: "a/b é+" });
  });

  it("of HEAD is answered like GET, without the body", async () => {
    server.handle = () => ({ message: { account: { id: "acc_1" } } });
    const get = await fixture.send("GET", "/accounts/acc_1");
    const head = await fixture.send("HEAD", "/accounts/acc_1");
    expect([head.status, head.text]).to.deep.equal([200, ""]);
    expect(head.headers["content-length"]).to.equal(get.headers["content-length"]).and.not.to.equal(undefined);
  });

  for (const [digits, text] of [
    ["0.1", "0.1"],
    ["1000.00", "1000.00"],
    ["9999999999999.99", "9999999999999.99"],
    ["1e3", "1e3"],
    ["9007199254740993.01", "9007199254740993.01"],
    ['"1000.00"', "1000.00"],
  ] as const) {
    it(`hands the amount ${digits} on as it is written`, async () => {
      await fixture.send("POST", "/transactions/mint", { body: `{"amount": ${digits}}` });
      expect(server.takeCall().message).to.deep.equal({ amount: text });
    });
  }

  it("carries the headers on the list to the server, and no other", async () => {
    await fixture.send("GET", "/transactions/txn_1", {
      headers: {
        authorization: "Bearer kesc_1",
        "x-api-key": "kesc_2",
        "idempotency-key": "again",
        traceparent: "00-1",
        tracestate: ["a=1", "b=2"],
        "x-request-id": "mine-1",
        "kesc-validate-only": "true",
        "grpc-metadata-kesc-validate-only": "true",
        cookie: "a=b",
      },
    });
    const { metadata } = server.takeCall();
    delete (metadata as Record<string, unknown>)["user-agent"];
    expect(metadata).to.deep.equal({
      authorization: "Bearer kesc_1",
      "x-api-key": "kesc_2",
      "idempotency-key": "again",
      traceparent: "00-1",
      tracestate: "a=1,b=2",
      "x-request-id": "mine-1",
    });
  });

  for (const [asked, leastMillis, mostMillis] of [
    [undefined, 3_000, 5_000],
    ["2S", 500, 2_000],
    ["99999999H", 3_000, 5_000],
  ] as const) {
    it(`gives the call its time with ${asked === undefined ? "no Grpc-Timeout" : `Grpc-Timeout ${asked}`}`, async () => {
      await fixture.send("GET", "/transactions", { headers: asked === undefined ? {} : { "grpc-timeout": asked } });
      expect(server.takeCall().deadlineMillis).to.be.within(leastMillis, mostMillis);
    });
  }

  for (const [name, given, isKept] of [
    ["keeps a sane id", "a.B_c:1-2", true],
    ["keeps an id of 128 characters", "x".repeat(128), true],
    ["replaces an id of 129 characters", "x".repeat(129), false],
    ["replaces an id with a blank", "a b", false],
    ["replaces an id beyond ASCII", "caf\u00e9", false],
    ["replaces an empty id", "", false],
    ["replaces an id that is sent twice", ["a", "a"], false],
    ["makes an id where there is none", [], false],
  ] as const) {
    it(`${name}, and answers and forwards the one that counts`, async () => {
      const headers = given.length === 0 && given !== "" ? {} : { "x-request-id": given as string };
      const { headers: answered } = await fixture.send("GET", "/transactions", { headers });
      const id = answered["x-request-id"];
      if (isKept) expect(id).to.equal(given);
      else expect(id).to.match(/^[0-9a-f-]{36}$/);
      expect(server.takeCall().metadata["x-request-id"]).to.equal(id);
    });
  }

  it("that the client gives up cancels the call, and leaves a line in the log", async () => {
    const arrived = new Promise<ReceivedCall>((resolve) => {
      server.handle = async (call) => {
        resolve(call);
        await call.cancelled;
        return { refusal: { code: status.CANCELLED } };
      };
    });
    const gone = new AbortController();
    const answer = fetch(`http://${fixture.gateway.address}/transactions`, { signal: gone.signal });
    const call = await arrived;
    gone.abort();
    const error: unknown = await answer.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(error).to.have.property("name", "AbortError");
    await call.cancelled;
    expect(fixture.logLines.at(-1)).to.include({ status: 499, code: "CLIENT_GONE", route: "/transactions" });
  });

  it("that breaks off in the middle of its body changes nothing, and leaves a line in the log", async () => {
    fixture.logLines.splice(0);
    const req = request(`http://${fixture.gateway.address}/transactions/mint`, {
      method: "POST",
      headers: { "content-type": "application/json", "content-length": MINT.length },
    });
    const failed = once(req, "error").then(
      () => undefined,
      () => undefined,
    );
    req.write(MINT.slice(0, 10));
    await fixture.send("GET", "/livez");
    req.destroy();
    await failed;
    for (let waits = 0; fixture.logLines.length < 2 && waits < 100; waits += 1) await setTimeout(10);
    expect(fixture.logLines.at(-1)).to.include({ status: 499, code: "CLIENT_GONE", route: "/transactions/mint" });
    expect(server.calls.filter(({ metadata }) => !("kesc-validate-only" in metadata))).to.deep.equal([]);
  });

  it("leaves one line in the log, without ids, filters, keys and bodies", async () => {
    fixture.logLines.splice(0);
    server.handle = () => ({});
    const headers = { "x-request-id": "log-1", "x-api-key": "kesc_secret" };
    await fixture.send("GET", "/accounts?phone_number=0712345678&email=a@b.example", { headers });
    await fixture.send("POST", "/v1/accounts/acc_secret/freeze", { headers, body: '{"reason": "secret"}' });
    await fixture.send("GET", "/secret", { headers });
    expect(
      fixture.logLines.map(({ method, route, status: httpStatus, code }) => [method, route, httpStatus, code]),
    ).to.deep.equal([
      ["GET", "/accounts", 200, "OK"],
      ["POST", "/accounts/{account_id}/freeze", 200, "OK"],
      ["GET", null, 404, "NO_SUCH_ROUTE"],
    ]);
    expect(fixture.logLines[0]).to.have.property("request_id", "log-1");
    expect(fixture.logLines[0]?.["ms"]).to.be.a("number");
    expect(JSON.stringify(fixture.logLines)).not.to.match(/secret|0712|example/);
  });
});
