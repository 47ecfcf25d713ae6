import { Metadata } from "@grpc/grpc-js";
import { expect } from "chai";

import type { ApiKey } from "../../../src/domain/api-key.js";
import { toUnixMillis } from "../../../src/domain/values/time.js";
import { ApiKeyAuthenticator, type Authentication } from "../../../src/grpc/calls/authenticator.js";
import { StoreError } from "../../../src/ledger/ports/store.js";
import { apiKey, SECRET } from "../../support/service/grpc-server.js";

/** An authenticator over a table of keys, with a clock that the test moves. */
function authenticator(stored: Map<string, ApiKey>) {
  const clock = { now: 1_000_000 };
  const reads: string[] = [];
  const failures: Error[] = [];
  const tested = new ApiKeyAuthenticator({
    keys: {
      apiKeyWithSecret: async (secret) => {
        reads.push(secret);
        await new Promise(setImmediate);
        const failure = failures.pop();
        if (failure !== undefined) throw failure;
        return stored.get(secret);
      },
    },
    now: () => toUnixMillis(clock.now),
  });
  const authenticate = (pairs: Record<string, string>): Authentication | Promise<Authentication> => {
    const metadata = new Metadata();
    for (const [name, value] of Object.entries(pairs)) metadata.set(name, value);
    return tested.authenticate(metadata);
  };
  return { clock, reads, failures, authenticate };
}

describe("grpc: authentication", () => {
  const key = apiKey();
  const stored = new Map([[SECRET, key]]);

  for (const [name, pairs, expected] of [
    ["takes x-api-key", { "x-api-key": SECRET }, key],
    ["takes a bearer token", { authorization: `Bearer ${SECRET}` }, key],
    ["takes a bearer token in any case", { authorization: `bearer ${SECRET}` }, key],
    ["takes the same key twice", { "x-api-key": SECRET, authorization: `Bearer ${SECRET}` }, key],
    ["misses a key", {}, { reason: "MISSING_API_KEY" }],
    ["refuses two keys", { "x-api-key": SECRET, authorization: `Bearer ${SECRET}2` }, { reason: "INVALID_API_KEY" }],
    ["refuses another scheme", { authorization: `Basic ${SECRET}` }, { reason: "INVALID_API_KEY" }],
    [
      "refuses another scheme beside a key",
      { "x-api-key": SECRET, authorization: "Basic x" },
      { reason: "INVALID_API_KEY" },
    ],
    ["refuses an empty key", { "x-api-key": "" }, { reason: "INVALID_API_KEY" }],
    ["refuses a key that nobody has", { "x-api-key": `${SECRET}2` }, { reason: "INVALID_API_KEY" }],
  ] as const) {
    it(name, async () => {
      expect(await authenticator(stored).authenticate(pairs)).to.deep.equal(expected);
    });
  }

  it("asks the database only for texts that may be keys", async () => {
    const { authenticate, reads } = authenticator(stored);
    for (const secret of ["kesc_short", "other_aGoodSecretOfTwentyOrMore", `kesc_${"a".repeat(101)}`, `${SECRET} `]) {
      expect(await authenticate({ "x-api-key": secret })).to.deep.equal({ reason: "INVALID_API_KEY" });
    }
    expect(reads).to.deep.equal([]);
  });

  it("remembers a key for a second, and then asks again", async () => {
    const { authenticate, reads, clock } = authenticator(stored);
    await authenticate({ "x-api-key": SECRET });
    clock.now += 999;
    expect(authenticate({ "x-api-key": SECRET })).to.equal(key);
    expect(reads).to.have.length(1);
    clock.now += 1;
    await authenticate({ "x-api-key": SECRET });
    expect(reads).to.have.length(2);
  });

  it("refuses a revoked key within a second", async () => {
    const table = new Map(stored);
    const { authenticate, clock } = authenticator(table);
    await authenticate({ "x-api-key": SECRET });
    table.set(SECRET, apiKey({ revokedAt: toUnixMillis(clock.now) }));
    clock.now += 1_000;
    expect(await authenticate({ "x-api-key": SECRET })).to.deep.equal({ reason: "INVALID_API_KEY" });
  });

  it("refuses a remembered key from the moment when it expires", async () => {
    const { authenticate, clock } = authenticator(new Map([[SECRET, apiKey({ expiresAt: toUnixMillis(1_000_100) })]]));
    expect(await authenticate({ "x-api-key": SECRET })).to.include({ name: "tests" });
    clock.now += 100;
    expect(authenticate({ "x-api-key": SECRET })).to.deep.equal({ reason: "INVALID_API_KEY" });
  });

  it("asks once for a hundred calls at once", async () => {
    const { authenticate, reads } = authenticator(stored);
    const answers = await Promise.all(Array.from({ length: 100 }, async () => authenticate({ "x-api-key": SECRET })));
    expect(answers.every((answer) => answer === key)).to.equal(true);
    expect(reads).to.have.length(1);
  });

  it("does not remember that a key is unknown", async () => {
    const table = new Map<string, ApiKey>();
    const { authenticate } = authenticator(table);
    await authenticate({ "x-api-key": SECRET });
    table.set(SECRET, key);
    expect(await authenticate({ "x-api-key": SECRET })).to.equal(key);
  });

  it("rejects while the database does not answer, and works again when it does", async () => {
    const { authenticate, failures } = authenticator(stored);
    failures.push(new StoreError("unavailable", undefined));
    const failure: unknown = await Promise.resolve(authenticate({ "x-api-key": SECRET })).catch(
      (error: unknown) => error,
    );
    expect(failure).to.be.instanceOf(StoreError);
    expect(await authenticate({ "x-api-key": SECRET })).to.equal(key);
  });
});
