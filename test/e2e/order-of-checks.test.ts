import { expect } from "chai";

import { toUnixMillis } from "../../src/domain/values/time.js";
import { describeEachEngine, fresh, newAccount, newKey, problemOf } from "../support/service/each-engine.js";
import { withKeys } from "../support/service/tenants.js";

describeEachEngine("the order of checks", (service) => {
  let accountId = "";
  let readerKey = "";
  let revokedKey = "";
  let expiredKey = "";

  before(async () => {
    accountId = await newAccount(service(), "10.00");
    readerKey = (await newKey(service(), { scopes: ["accounts:read", "transactions:read"] })).secret;
    expiredKey = (await newKey(service(), { expiresAt: toUnixMillis(Date.now() - 1) })).secret;
    const revoked = await newKey(service());
    revokedKey = revoked.secret;
    await withKeys(service().databaseUrl, (keys) => keys.revokeApiKey(revoked.id));
  });

  // The order of rows is the order of checks: each call would be refused by all that follow, too.
  const unknownAccount = "acc_01jd2r6p5vf8ksw3xhb1z7q4ye";
  const rows: readonly (readonly [
    what: string,
    given: () => { key?: string; body: object },
    expected: { status: number; code: string; grpc: number },
  ])[] = [
    ["no key", () => ({ key: "", body: { amount: "x" } }), { status: 401, code: "MISSING_API_KEY", grpc: 16 }],
    [
      "a key that is none",
      () => ({ key: "kesc_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", body: { amount: "x" } }),
      { status: 401, code: "INVALID_API_KEY", grpc: 16 },
    ],
    ["a revoked key", () => ({ key: revokedKey, body: {} }), { status: 401, code: "INVALID_API_KEY", grpc: 16 }],
    ["an expired key", () => ({ key: expiredKey, body: {} }), { status: 401, code: "INVALID_API_KEY", grpc: 16 }],
    [
      "a key without the scope",
      () => ({ key: readerKey, body: { amount: "x" } }),
      { status: 403, code: "SCOPE_REQUIRED", grpc: 7 },
    ],
    [
      "input of the wrong shape",
      () => ({ body: { account_id: unknownAccount, amount: "x", reference: "r" } }),
      { status: 400, code: "INVALID_FIELD", grpc: 3 },
    ],
    [
      "an account that does not exist",
      () => ({ body: { account_id: unknownAccount, amount: "99.00", reference: fresh("order") } }),
      { status: 404, code: "ACCOUNT_NOT_FOUND", grpc: 5 },
    ],
    [
      "more than is there",
      () => ({ body: { account_id: accountId, amount: "99.00", reference: fresh("order") } }),
      { status: 422, code: "INSUFFICIENT_FUNDS", grpc: 9 },
    ],
  ];
  for (const [what, given, expected] of rows) {
    it(`answers ${expected.code} for ${what}, over REST and gRPC`, async () => {
      const { body, key } = given();
      const rest = await service().rest("POST", "/transactions/redeem", {
        body,
        ...(key === undefined ? {} : { key }),
      });
      expect(problemOf(rest)).to.include({ status: expected.status, code: expected.code });
      expect(rest.json["request_id"]).to.equal(rest.headers["x-request-id"]);
      const grpc = await service().grpc.call("Redeem", body, key === undefined ? {} : { key });
      expect(grpc).to.include({ code: expected.grpc, reason: expected.code });
    });
  }

  it("asks for a key with WWW-Authenticate, and takes one as a bearer token too", async () => {
    const refused = await service().rest("GET", "/accounts", { key: "" });
    expect(refused.headers["www-authenticate"]).to.match(/^Bearer/);
    const bearer = await service().rest("GET", "/accounts", {
      key: "",
      headers: { authorization: `Bearer ${service().a.key}` },
    });
    expect(bearer.status).to.equal(200);
  });

  describe("keeps it where the gateway can't even read the request", () => {
    const unreadable = [
      ["broken JSON", { body: "{" }, 400, "MALFORMED_BODY"],
      ["a field twice", { body: '{"amount":1,"amount":2}' }, 400, "MALFORMED_BODY"],
      ["another media type", { body: "<x/>", headers: { "content-type": "text/xml" } }, 415, "UNSUPPORTED_MEDIA_TYPE"],
      ["a body too large", { body: `{"description":"${"x".repeat(300_000)}"}` }, 413, "BODY_TOO_LARGE"],
      ["an unknown field", { body: { colour: "red" } }, 400, "INVALID_FIELD"],
    ] as const;
    for (const [what, call, status, code] of unreadable) {
      it(`checks the key and the scope before it complains about ${what}`, async () => {
        const path = "/transactions/mint";
        expect((await service().rest("POST", path, { ...call, key: "" })).json["code"]).to.equal("MISSING_API_KEY");
        expect((await service().rest("POST", path, { ...call, key: readerKey })).json["code"]).to.equal(
          "SCOPE_REQUIRED",
        );
        expect(problemOf(await service().rest("POST", path, call))).to.include({ status, code });
      });
    }
  });

  it("knows its routes: 404 for none, 405 with Allow for another method", async () => {
    expect(problemOf(await service().rest("GET", "/nothing"))).to.include({ status: 404, code: "NO_SUCH_ROUTE" });
    const wrong = await service().rest("DELETE", `/accounts/${accountId}`);
    expect(problemOf(wrong)).to.include({ status: 405, code: "METHOD_NOT_ALLOWED" });
    expect(wrong.headers["allow"]).to.include("GET");
  });
});
