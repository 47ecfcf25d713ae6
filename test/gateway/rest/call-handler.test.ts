import { status } from "@grpc/grpc-js";
import { expect } from "chai";

import type { RestCall } from "../../support/callers/rest-caller.js";
import type { FakeRefusal } from "../../support/gateway/fake-server.js";
import { GatewayFixture } from "../../support/gateway/fixture.js";

const TRANSACTION = {
  id: "txn_1",
  account_id: "acc_1",
  type: "TRANSACTION_TYPE_MINT",
  status: "TRANSACTION_STATUS_COMPLETED",
  amount: "1000.00",
  reference: "r/1",
  metadata: { order: "7" },
  rail: "direct",
  created_at: "2026-01-31T12:00:00.250Z",
  updated_at: "2026-01-31T12:00:00.250Z",
};
const MINT = '{"account_id": "acc_1", "amount": 1000.00, "reference": "r/1", "metadata": {"order": "7"}}';

describe("a REST request", () => {
  const fixture = GatewayFixture.ofSuite();
  const { server } = fixture;
  beforeEach(() => {
    server.handle = () => ({ message: { transaction: TRANSACTION } });
    server.calls.splice(0);
  });

  it("that creates a resource returns 201, the location, and all fields of the resource", async () => {
    const answer = await fixture.send("POST", "/transactions/mint", { body: MINT });
    expect(answer.status).to.equal(201);
    expect(answer.headers).to.include({
      location: "/transactions/txn_1",
      "content-type": "application/json; charset=utf-8",
    });
    expect(answer.text).to.equal(
      '{"id":"txn_1","account_id":"acc_1","type":"mint","status":"completed","status_note":null,"amount":1000.00,' +
        '"reference":"r/1","description":null,"metadata":{"order":"7"},"rail":"direct","rail_receipt":null,"failure":null,' +
        '"needs_attention":false,"available_balance_after":null,"corrects_transaction_id":null,"correction":null,' +
        '"reversed_by_transaction_id":null,"created_at":"2026-01-31T12:00:00.250Z","updated_at":"2026-01-31T12:00:00.250Z",' +
        '"completed_at":null,"receipt":null,"deposit_id":null,"destination_id":null,"warnings":[],"held_for":[]}',
    );
    expect(server.takeCall()).to.deep.include({
      rpc: "Mint",
      message: { account_id: "acc_1", amount: "1000", reference: "r/1", metadata: { order: "7" } },
    });
  });

  it("under /v1 has its location under /v1", async () => {
    const { status: httpStatus, headers } = await fixture.send("POST", "/v1/transactions/mint", { body: MINT });
    expect([httpStatus, headers.location]).to.deep.equal([201, "/v1/transactions/txn_1"]);
  });

  it("has the resource's id percent-encoded in its location", async () => {
    server.handle = () => ({ message: { transaction: { ...TRANSACTION, id: "a/b c?" } } });
    const { headers } = await fixture.send("POST", "/transactions/mint", { body: MINT });
    expect(headers.location).to.equal("/transactions/a%2Fb%20c%3F");
  });

  it("that is a replay returns 200, marked and without a location", async () => {
    server.handle = () => ({ message: { transaction: TRANSACTION }, headers: { "idempotent-replayed": "true" } });
    const { status: httpStatus, headers } = await fixture.send("POST", "/transactions/mint", { body: MINT });
    expect(httpStatus).to.equal(200);
    expect(headers).to.include({ "idempotent-replayed": "true" }).and.not.to.have.property("location");
  });

  it("that creates nothing returns 200, replayed or not", async () => {
    server.handle = () => ({ message: { account: { id: "acc_1" } } });
    const first = await fixture.send("POST", "/accounts/acc_1/freeze");
    server.handle = () => ({ message: { account: { id: "acc_1" } }, headers: { "idempotent-replayed": "true" } });
    const second = await fixture.send("POST", "/accounts/acc_1/freeze", { body: '{"note": "why"}' });
    expect([first.status, first.headers["idempotent-replayed"]]).to.deep.equal([200, undefined]);
    expect([second.status, second.headers["idempotent-replayed"]]).to.deep.equal([200, "true"]);
    expect(server.calls.map(({ message }) => message)).to.deep.equal([
      { account_id: "acc_1" },
      { account_id: "acc_1", note: "why" },
    ]);
  });

  it("that lists takes its filters from the query, and returns the whole response", async () => {
    server.handle = () => ({ message: { transactions: [TRANSACTION], next_page_token: "next" } });
    const query = "statuses=completed&type=mint&start=2026-01-31T12:00:00%2B03:00&page_size=7&reference=";
    const answer = await fixture.send("GET", `/transactions?${query}`);
    expect(answer.status).to.equal(200);
    expect(answer.json).to.have.keys("transactions", "next_page_token");
    expect(server.takeCall().message).to.deep.equal({
      type: "TRANSACTION_TYPE_MINT",
      statuses: ["TRANSACTION_STATUS_COMPLETED"],
      start: "2026-01-31T12:00:00+03:00",
      page_size: 7,
    });
  });

  it("has the fields of its path decoded", async () => {
    server.handle = () => ({ message: { account: {} } });
    await fixture.send("GET", "/accounts/a%2Fb%20%C3%A9+");
    expect(server.takeCall().message).to.deep.equal({ account_id: "a/b é+" });
  });

  it("that the server refuses returns a problem with the request's id", async () => {
    const facts = { available: "50.00", requested: "100.00" };
    const refusal = { code: status.FAILED_PRECONDITION, text: "Too little.", reason: "INSUFFICIENT_FUNDS", facts };
    server.handle = () => ({ refusal });
    const answer = await fixture.send("GET", "/transactions/txn_1", { headers: { "x-request-id": "mine" } });
    expect(answer.status).to.equal(422);
    expect(answer.headers).to.include({ "content-type": "application/problem+json", "x-request-id": "mine" });
    expect(answer.text).to.match(
      /"detail":"Too little\.".*"request_id":"mine","available":50\.00,"requested":100\.00}$/,
    );
  });

  it("gives the call no more time than Grpc-Timeout", async () => {
    server.handle = async ({ cancelled }) => {
      await cancelled;
      return {};
    };
    const headers = { "grpc-timeout": "100m" };
    for (const [method, path, code] of [
      ["GET", "/transactions", "DEADLINE_EXCEEDED"],
      ["POST", "/transactions/mint", "OUTCOME_UNKNOWN"],
    ] as const) {
      const body = method === "POST" ? { account_id: "acc_1", amount: 1, reference: "r-1" } : undefined;
      const { status: httpStatus, json } = await fixture.send(method, path, { headers, ...(body && { body }) });
      expect([httpStatus, json["code"]], path).to.deep.equal([504, code]);
    }
  });

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
    it(`${name}, and returns and forwards the one that counts`, async () => {
      const headers = given.length === 0 && given !== "" ? {} : { "x-request-id": given as string };
      const { headers: answered } = await fixture.send("GET", "/transactions", { headers });
      const id = answered["x-request-id"];
      if (isKept) expect(id).to.equal(given);
      else expect(id).to.match(/^[0-9a-f-]{36}$/);
      expect(server.takeCall().metadata["x-request-id"]).to.equal(id);
    });
  }
});

type Case = readonly [name: string, request: RestCall, status: number, code: string, message: object];

const body = (text: string): RestCall => ({ body: text });

const FAULTS: readonly Case[] = [
  ["a body that is not JSON", body("{"), 400, "MALFORMED_BODY", {}],
  ["a body that is an array", body("[]"), 400, "MALFORMED_BODY", {}],
  ["a body that is null", body("null"), 400, "MALFORMED_BODY", {}],
  [
    "a body of another type",
    { body: "{}", headers: { "content-type": "text/plain" } },
    415,
    "UNSUPPORTED_MEDIA_TYPE",
    {},
  ],
  ["a body that is too large", body(`{"reference": "${"x".repeat(4_096)}"}`), 413, "BODY_TOO_LARGE", {}],
  ["an unknown field", body('{"amount": 5, "colour": "red"}'), 400, "INVALID_FIELD", { amount: "5" }],
  [
    "a bad header",
    { ...body('{"amount": 5}'), headers: { "grpc-timeout": "soon" } },
    400,
    "INVALID_FIELD",
    { amount: "5" },
  ],
];

const REFUSED: readonly (readonly [FakeRefusal, number])[] = [
  [{ code: status.UNAUTHENTICATED, reason: "MISSING_API_KEY" }, 401],
  [{ code: status.PERMISSION_DENIED, reason: "SCOPE_REQUIRED" }, 403],
  [{ code: status.UNAVAILABLE, reason: "SHUTTING_DOWN", retryDelay: "1s" }, 503],
];

describe("the order of checks: key, scope, shape of the request", () => {
  const fixture = GatewayFixture.ofSuite();
  const { server } = fixture;
  beforeEach(() => {
    server.calls.splice(0);
    server.handle = () => ({});
  });

  for (const [name, request, httpStatus, code, message] of FAULTS) {
    it(`has the server check the key before the gateway reports ${name}`, async () => {
      const answer = await fixture.send("POST", "/transactions/mint", request);
      expect([answer.status, answer.json["code"]]).to.deep.equal([httpStatus, code]);
      expect(server.takeCall())
        .to.deep.include({ rpc: "Mint", message })
        .and.to.have.nested.property("metadata.kesc-validate-only", "true");

      for (const [refusal, refusedStatus] of REFUSED) {
        server.handle = () => ({ refusal });
        const refused = await fixture.send("POST", "/transactions/mint", request);
        expect([refused.status, refused.json["code"]]).to.deep.equal([refusedStatus, refusal.reason]);
      }
    });
  }

  it("makes one call, which is carried out, when the request has no fault", async () => {
    await fixture.send("POST", "/transactions/mint", body('{"amount": 5}'));
    expect(server.takeCall().metadata).not.to.have.property("kesc-validate-only");
  });

  it("reports the gateway's problems first, then those of other fields that the server finds", async () => {
    const violations = [
      ["account_id", "is required", "REQUIRED"],
      ["amount", "is required", "REQUIRED"],
      ["reference", "is required", "REQUIRED"],
    ] as const;
    server.handle = () => ({ refusal: { code: status.INVALID_ARGUMENT, reason: "INVALID_FIELD", violations } });
    const { json } = await fixture.send("POST", "/transactions/mint", body('{"colour": "red", "amount": true}'));
    expect(json["errors"]).to.deep.equal([
      { field: "colour", code: "UNKNOWN_FIELD", message: "is not a field of this request" },
      { field: "amount", code: "WRONG_TYPE", message: "must be a number, or a string that contains one" },
      { field: "account_id", code: "REQUIRED", message: "is required" },
      { field: "reference", code: "REQUIRED", message: "is required" },
    ]);
  });

  it("reports only the malformed body, whatever the server says about the fields", async () => {
    const violations = [["account_id", "is required", "REQUIRED"]] as const;
    server.handle = () => ({ refusal: { code: status.INVALID_ARGUMENT, reason: "INVALID_FIELD", violations } });
    const { json } = await fixture.send("POST", "/transactions/mint", body("{"));
    expect(json).to.include({ code: "MALFORMED_BODY" }).and.not.to.have.property("errors");
  });

  it("reports a key that no server can read without a call", async () => {
    const answer = await fixture.send("GET", "/accounts", { headers: { "x-api-key": "caf\u00e9" } });
    expect(answer.status).to.equal(400);
    expect(answer.json["errors"]).to.deep.equal([
      { field: "x-api-key", code: "FORMAT", message: "must be printable ASCII characters" },
    ]);
    expect(server.calls).to.deep.equal([]);
  });
});
