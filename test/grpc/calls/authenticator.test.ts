import { Metadata } from "@grpc/grpc-js";
import { expect } from "chai";

import type { ApiKey } from "../../../src/domain/api-key.js";
import { toUnixMillis } from "../../../src/domain/values/time.js";
import { ApiKeyAuthenticator, type Authentication } from "../../../src/grpc/calls/authenticator.js";
import { StoreError } from "../../../src/ledger/ports/store.js";
import { apiKey, SECRET } from "../../support/service/grpc-server.js";

function metadataOf(pairs: Record<string, string>): Metadata {
  const metadata = new Metadata();
  for (const [name, value] of Object.entries(pairs)) metadata.set(name, value);
  return metadata;
}

/** An authenticator over a table of keys, with a clock that the test moves. */
function authenticator(stored: Map<string, ApiKey | "moved">, restored = { waits: false }) {
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
    restoreWaits: () => Promise.resolve(restored.waits),
    now: () => toUnixMillis(clock.now),
  });
  const authenticate = (
    pairs: Record<string, string>,
    connection = "a connection",
  ): Authentication | Promise<Authentication> =>
    tested.authenticate({ metadata: metadataOf(pairs), getPeer: () => connection });
  const organizationOf = (pairs: Record<string, string>): string | undefined =>
    tested.organizationOf(metadataOf(pairs));
  return { clock, reads, failures, authenticate, organizationOf };
}

describe("grpc: authentication", () => {
  const key = apiKey();
  const stored = new Map([[SECRET, key]]);
  const NAME = "URI:spiffe://example.com/billing";

  it("asks a caller to come again whose organization has moved away, and remembers it not", async () => {
    const { authenticate, reads } = authenticator(new Map([[SECRET, "moved"]]));
    for (let calls = 1; calls <= 2; calls += 1) {
      expect(await authenticate({ "x-api-key": SECRET })).to.deep.equal({ reason: "BOOK_MOVING" });
      expect(reads).to.have.lengthOf(calls);
    }
  });

  for (const [name, pairs, expected] of [
    ["takes x-api-key", { "x-api-key": SECRET }, key],
    ["takes a bearer token", { authorization: `Bearer ${SECRET}` }, key],
    ["takes a bearer token in any case", { authorization: `bearer ${SECRET}` }, key],
    ["takes the same key twice", { "x-api-key": SECRET, authorization: `Bearer ${SECRET}` }, key],
    ["misses a key", {}, { reason: "MISSING_API_KEY" }],
    [
      "refuses two keys",
      { "x-api-key": SECRET, authorization: `Bearer ${SECRET}2` },
      {
        reason: "INVALID_API_KEY",
        problem: "authorization holds another key than x-api-key, and both count. Send one of them",
      },
    ],
    [
      "refuses another scheme",
      { authorization: `Basic ${SECRET}` },
      { reason: "INVALID_API_KEY", problem: "authorization must be Bearer and the key" },
    ],
    [
      "refuses another scheme beside a key",
      { "x-api-key": SECRET, authorization: "Basic x" },
      {
        reason: "INVALID_API_KEY",
        problem: "authorization holds something else than x-api-key, and both count. Send one of them",
      },
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

  for (const [what, secret, given] of [
    ["key", SECRET, { "x-api-key": SECRET }],
    ["certificate", `certificate ${NAME}`, { "kesc-peer-certificate": NAME }],
  ] as const) {
    it(`refuses a revoked ${what} within a second`, async () => {
      const own = apiKey({ name: NAME });
      const table = new Map([[secret, own]]);
      const { authenticate, clock } = authenticator(table);
      expect(await authenticate(given)).to.equal(own);
      table.set(secret, apiKey({ revokedAt: toUnixMillis(clock.now) }));
      clock.now += 1_000;
      expect(await authenticate(given)).to.deep.equal({ reason: "INVALID_API_KEY" });
    });
  }

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

  it("believes no key and no certificate while a restore waits, and forgets what it knew", async () => {
    const certificate = { "kesc-peer-certificate": NAME };
    const known = new Map([...stored, [`certificate ${NAME}`, apiKey({ name: NAME })]]);
    const restored = { waits: false };
    const { authenticate, reads, clock, organizationOf } = authenticator(known, restored);
    const callers = [{ "x-api-key": SECRET }, certificate, { "x-api-key": `${SECRET}2` }];
    for (const caller of callers) await authenticate(caller);
    clock.now += 1_000;
    restored.waits = true;
    for (const caller of callers) {
      expect(await authenticate(caller)).to.deep.equal({ reason: "RESTORE_NOT_CONFIRMED" });
      expect(organizationOf(caller)).to.equal(undefined);
    }
    expect(reads).to.have.length(3);
    restored.waits = false;
    expect(await authenticate({ "x-api-key": SECRET })).to.equal(key);
  });

  describe("when a client tries random keys", () => {
    const random = (serial: number): Record<string, string> => ({
      "x-api-key": `kesc_0_${String(serial).padStart(43, "0")}`,
    });
    /** Resolves when no look-up asks any more whether a restore waits. */
    const lookupsBegun = (): Promise<unknown> =>
      new Promise((resolve) => {
        process.nextTick(resolve);
      });
    const flood = (authenticate: ReturnType<typeof authenticator>["authenticate"], keys: number) =>
      Promise.all(Array.from({ length: keys }, async (_, serial) => authenticate(random(serial), "hostile")));

    it("looks up two of them at a time", async () => {
      const { authenticate, reads } = authenticator(stored);
      const answers = flood(authenticate, 10);
      await lookupsBegun();
      expect(reads).to.have.length(2);
      expect(await answers).to.deep.equal(Array.from({ length: 10 }, () => ({ reason: "INVALID_API_KEY" })));
      expect(reads).to.have.length(10);
    });

    it("looks up a known key before all of them", async () => {
      const { authenticate, reads, clock } = authenticator(stored);
      await authenticate({ "x-api-key": SECRET });
      clock.now += 1_000;
      const answers = flood(authenticate, 100);
      const own = authenticate({ "x-api-key": SECRET });
      await lookupsBegun();
      expect(reads.slice(1)).to.deep.equal([random(0)["x-api-key"], random(1)["x-api-key"], SECRET]);
      expect(await own).to.equal(key);
      await answers;
    });

    it("looks up a new key of another connection after one more of them", async () => {
      const { authenticate, reads } = authenticator(stored);
      const answers = flood(authenticate, 100);
      expect(await authenticate({ "x-api-key": SECRET }, "another connection")).to.equal(key);
      expect(reads.indexOf(SECRET)).to.be.at.most(3);
      await answers;
    });

    it("refuses those for which there is no room, and takes a new key of another connection", async () => {
      const { authenticate, reads } = authenticator(stored);
      const answers = flood(authenticate, 2_000);
      expect(await authenticate({ "x-api-key": SECRET }, "another connection")).to.equal(key);
      const refused = (await answers).filter((answer) => "reason" in answer && answer.reason === "QUEUE_FULL");
      expect(refused).to.have.length.within(1_000, 1_998);
      expect(reads).to.have.length(2_001 - refused.length);
    });

    it("rejects all of them with the first failure of the database, and looks up again", async () => {
      const { authenticate, failures } = authenticator(stored);
      failures.push(new StoreError("unavailable", undefined));
      const settled = await Promise.allSettled(
        Array.from({ length: 100 }, async (_, serial) => authenticate(random(serial))),
      );
      expect(settled.filter(({ status }) => status === "rejected")).to.have.length(99);
      expect(await authenticate({ "x-api-key": SECRET })).to.equal(key);
    });
  });

  describe("by a certificate", () => {
    const peer = { "kesc-peer-certificate": NAME };
    const own = apiKey({ name: NAME });
    const certificates = new Map([...stored, [`certificate ${NAME}`, own]]);

    it("takes a call without a key", async () => {
      const { authenticate, organizationOf } = authenticator(certificates);
      expect(await authenticate(peer)).to.equal(own);
      expect(organizationOf(peer)).to.equal(own.organizationId);
    });

    it("is not looked at when the call has a key, valid or not", async () => {
      const { authenticate, reads } = authenticator(certificates);
      expect(await authenticate({ ...peer, "x-api-key": SECRET })).to.equal(key);
      for (const wrong of ["", `${SECRET}2`, `certificate ${NAME}`]) {
        expect(await authenticate({ ...peer, "x-api-key": wrong })).to.deep.equal({ reason: "INVALID_API_KEY" });
        expect(await authenticate({ ...peer, authorization: `Bearer ${wrong}` })).to.include({
          reason: "INVALID_API_KEY",
        });
      }
      expect(new Set(reads)).to.deep.equal(new Set([SECRET, `${SECRET}2`]));
    });

    it("misses a key when no key has the certificate's name", async () => {
      const { authenticate } = authenticator(stored);
      expect(await authenticate(peer)).to.deep.equal({ reason: "MISSING_API_KEY" });
    });
  });

  it("knows the organization of a key from its first look-up on, while the key is valid", async () => {
    const table = new Map(stored);
    const { authenticate, organizationOf, clock } = authenticator(table);
    expect(organizationOf({ "x-api-key": SECRET })).to.equal(undefined);
    await authenticate({ "x-api-key": SECRET });
    clock.now += 60_000;
    expect(organizationOf({ authorization: `Bearer ${SECRET}` })).to.equal(key.organizationId);
    expect(organizationOf({ "x-api-key": `${SECRET}2` })).to.equal(undefined);
    table.set(SECRET, apiKey({ revokedAt: toUnixMillis(clock.now) }));
    await authenticate({ "x-api-key": SECRET });
    expect(organizationOf({ "x-api-key": SECRET })).to.equal(undefined);
  });
});
