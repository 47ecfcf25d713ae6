import { gzipSync } from "node:zlib";

import { status } from "@grpc/grpc-js";
import { expect } from "chai";

import type { FakeRefusal } from "../../support/fake-server.js";
import { GatewayFixture, type HttpRequest } from "../../support/gateway-fixture.js";

type Case = readonly [name: string, request: HttpRequest, status: number, code: string, message: object];

const json = (body: string | Buffer): HttpRequest => ({ body });
const typed = (type: string, body = "{}"): HttpRequest => ({ body, headers: { "content-type": type } });

const WHOLE: readonly Case[] = [
  ["that is not JSON", json("{"), 400, "MALFORMED_BODY", {}],
  ["that is an array", json("[]"), 400, "MALFORMED_BODY", {}],
  ["that is null", json("null"), 400, "MALFORMED_BODY", {}],
  ["that is a string", json('"x"'), 400, "MALFORMED_BODY", {}],
  ["with a key twice", json('{"amount": 1, "amount": 1}'), 400, "MALFORMED_BODY", {}],
  ["that is not UTF-8", json(Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])), 400, "MALFORMED_BODY", {}],
  ["that is nested too deeply", json("[".repeat(4_000)), 400, "MALFORMED_BODY", {}],
  ["of another type", typed("text/plain"), 415, "UNSUPPORTED_MEDIA_TYPE", {}],
  ["that is a form", typed("application/x-www-form-urlencoded", "a=1"), 415, "UNSUPPORTED_MEDIA_TYPE", {}],
  ["in another character set", typed("application/json; charset=latin1"), 415, "UNSUPPORTED_MEDIA_TYPE", {}],
  ["of a type that only begins like JSON", typed("application/jsonp"), 415, "UNSUPPORTED_MEDIA_TYPE", {}],
  [
    "that is compressed",
    { body: gzipSync("{}"), headers: { "content-encoding": "gzip" } },
    415,
    "UNSUPPORTED_MEDIA_TYPE",
    {},
  ],
  ["that is too large", json(`{"reference": "${"x".repeat(4_096)}"}`), 413, "BODY_TOO_LARGE", {}],
  [
    "that is too large and does not say so",
    {
      body: `{"reference": "${"x".repeat(4_096)}"}`,
      headers: { "content-length": [], "transfer-encoding": "chunked" },
    },
    413,
    "BODY_TOO_LARGE",
    {},
  ],
];

const FIELDS: readonly Case[] = [
  ["with an unknown field", json('{"amount": 5, "colour": "red"}'), 400, "INVALID_FIELD", { amount: "5" }],
  ["with a field of the wrong type", json('{"amount": 5, "reference": 7}'), 400, "INVALID_FIELD", { amount: "5" }],
  [
    "with half of a surrogate pair",
    json('{"amount": 5, "reference": "\\ud800"}'),
    400,
    "INVALID_FIELD",
    { amount: "5" },
  ],
  [
    "and a malformed Grpc-Timeout",
    { ...json('{"amount": 5}'), headers: { "grpc-timeout": "soon" } },
    400,
    "INVALID_FIELD",
    { amount: "5" },
  ],
  [
    "and an Idempotency-Key beyond ASCII",
    { ...json('{"amount": 5}'), headers: { "idempotency-key": "caf\u00e9" } },
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

describe("the order of checks: key, scope, shape of the input", () => {
  const fixture = new GatewayFixture();
  const { server } = fixture;
  before(() => fixture.start());
  after(() => fixture.stop());
  beforeEach(() => {
    server.calls.splice(0);
    server.handle = () => ({});
  });

  for (const [name, request, httpStatus, code, message] of [...WHOLE, ...FIELDS]) {
    it(`has the server check the key first for a body ${name}`, async () => {
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

  it("asks for nothing else when the request is as it should be", async () => {
    await fixture.send("POST", "/transactions/mint", json('{"amount": 5}'));
    expect(server.takeCall().metadata).not.to.have.property("kesc-validate-only");
  });

  it("adds the fields that the server finds, once each, after the gateway's own", async () => {
    const violations = [
      ["account_id", "is required"],
      ["amount", "is required"],
      ["reference", "is required"],
    ] as const;
    server.handle = () => ({ refusal: { code: status.INVALID_ARGUMENT, reason: "INVALID_FIELD", violations } });
    const { json: problem } = await fixture.send(
      "POST",
      "/transactions/mint",
      json('{"colour": "red", "amount": true}'),
    );
    expect(problem["errors"]).to.deep.equal([
      { field: "colour", message: "is not a field of this request" },
      { field: "amount", message: "must be a number, or a string that contains one" },
      { field: "account_id", message: "is required" },
      { field: "reference", message: "is required" },
    ]);
  });

  it("leaves a malformed body its own problem, whatever the server says about the fields", async () => {
    const violations = [["account_id", "is required"]] as const;
    server.handle = () => ({ refusal: { code: status.INVALID_ARGUMENT, reason: "INVALID_FIELD", violations } });
    const { json: problem } = await fixture.send("POST", "/transactions/mint", json("{"));
    expect(problem).to.include({ code: "MALFORMED_BODY" }).and.not.to.have.property("errors");
  });

  it("refuses a field of the body that is in the path", async () => {
    const { json: problem } = await fixture.send("POST", "/accounts/acc_1/freeze", json('{"account_id": "acc_1"}'));
    expect(problem["errors"]).to.deep.equal([
      { field: "account_id", message: "is in the path and must not be in the body" },
    ]);
    expect(server.takeCall().message).to.deep.equal({ account_id: "acc_1" });
  });

  it("refuses unknown and repeated query parameters", async () => {
    const { json: problem } = await fixture.send("GET", "/accounts?user=1&status=active&status=frozen&status=x");
    expect(problem["errors"]).to.deep.equal([
      { field: "user", message: "is not a query parameter of this path" },
      { field: "status", message: "must be sent only once" },
    ]);
  });

  it("names at most a hundred fields", async () => {
    const names = Array.from({ length: 150 }, (_, index) => `"f${String(index)}":1`);
    const { json: problem } = await fixture.send("POST", "/transactions/mint", json(`{${names.join(",")}}`));
    expect(problem["errors"]).to.have.lengthOf(100);
  });

  for (const header of ["x-api-key", "authorization"]) {
    it(`refuses at once a key in ${header} that no server could read`, async () => {
      const answer = await fixture.send("GET", "/accounts", { headers: { [header]: "caf\u00e9" } });
      expect(answer.status).to.equal(400);
      expect(answer.json["errors"]).to.deep.equal([
        { field: header, message: "must contain only printable ASCII characters" },
      ]);
      expect(server.calls).to.deep.equal([]);
    });
  }

  it("takes no body at all for an empty object", async () => {
    await fixture.send("POST", "/transactions/mint");
    await fixture.send("POST", "/transactions/mint", json(""));
    expect(server.calls.map(({ message, metadata }) => [message, "kesc-validate-only" in metadata])).to.deep.equal([
      [{}, false],
      [{}, false],
    ]);
  });

  for (const type of ["application/json", "application/json; charset=utf-8", 'Application/JSON;charset="UTF-8"']) {
    it(`takes a body of the type ${type}`, async () => {
      await fixture.send("POST", "/transactions/mint", typed(type));
      expect(server.takeCall().metadata).not.to.have.property("kesc-validate-only");
    });
  }
});
