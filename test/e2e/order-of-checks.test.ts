import { expect } from "chai";

import { toUnixMillis } from "../../src/domain/values/time.js";
import { fresh, newAccount, newKey, problemOf } from "../support/service/each-engine.js";
import { type Service, sharedService } from "../support/service/service.js";
import { withKeys } from "../support/service/tenants.js";

// The order does not depend on the database: one engine proves it.
describe("the order of checks", () => {
  let service: Service;
  let accountId = "";
  let readerKey = "";
  let revokedKey = "";
  let expiredKey = "";

  before(async () => {
    service = await sharedService("sqlite");
    accountId = await newAccount(service, "10.00");
    readerKey = (await newKey(service, { scopes: ["accounts:read", "transactions:read"] })).secret;
    expiredKey = (await newKey(service, { expiresAt: toUnixMillis(Date.now() - 1) })).secret;
    const revoked = await newKey(service);
    revokedKey = revoked.secret;
    await withKeys(service.databaseUrl, (keys) => keys.revokeApiKey(revoked.id));
  });

  // The order of rows is the order of checks: all later checks would refuse the call, too.
  const unknownAccount = "acc_01jd2r6p5vf8ksw3xhb1z7q4ye";
  const rows: readonly (readonly [
    what: string,
    given: () => { key?: string; body: object },
    expected: { status: number; code: string; grpc: number },
  ])[] = [
    ["no key", () => ({ key: "", body: { amount: "x" } }), { status: 401, code: "MISSING_API_KEY", grpc: 16 }],
    [
      "a key that is none",
      () => ({ key: `kesc_0_${"a".repeat(43)}`, body: { amount: "x" } }),
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
    it(`refuses ${what} with ${expected.code}, over REST and gRPC`, async () => {
      const { body, key } = given();
      const rest = await service.rest("POST", "/transactions/redeem", {
        body,
        ...(key === undefined ? {} : { key }),
      });
      expect(problemOf(rest)).to.include({ status: expected.status, code: expected.code });
      expect(rest.json["request_id"]).to.equal(rest.headers["x-request-id"]);
      const grpc = await service.grpc.call("Redeem", body, key === undefined ? {} : { key });
      expect(grpc).to.include({ code: expected.grpc, reason: expected.code });
    });
  }

  it("checks the key and the scope before it complains about a body that the gateway can't read", async () => {
    const mint = async (key: string): Promise<unknown> =>
      (await service.rest("POST", "/transactions/mint", { body: "{", key })).json["code"];
    expect(await mint("")).to.equal("MISSING_API_KEY");
    expect(await mint(readerKey)).to.equal("SCOPE_REQUIRED");
    expect(await mint(service.a.key)).to.equal("MALFORMED_BODY");
  });
});
