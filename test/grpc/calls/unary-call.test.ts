import { Metadata, status as Status } from "@grpc/grpc-js";
import { expect } from "chai";

import type { Scope } from "../../../src/domain/api-key.js";
import type { Command } from "../../../src/domain/commands.js";
import { TransactionServiceService as rpcs } from "../../../src/gen/kesc/v1/transaction_service.js";
import { StoreError } from "../../../src/ledger/ports/store.js";
import {
  call,
  callLines,
  emptyReads,
  eventually,
  KEY,
  KEY_ID,
  MINT,
  ORGANIZATION,
  SECRET,
  serve,
  type ServerUnderTest,
  transaction,
  TRANSACTION_ID,
} from "../../support/grpc-harness.js";

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const STRANGER = { "x-api-key": "kesc_nobodyHasThisSecret00" };

/** A unary call whose request is these bytes, whatever they are. */
function raw(path: string) {
  const bytes = (value: Buffer): Buffer => value;
  return { ...rpcs.mint, path, requestSerialize: bytes, responseDeserialize: bytes };
}

describe("grpc: every call", () => {
  describe("is checked in one order, the earlier of two faults first", () => {
    const scopes: readonly Scope[] = ["transactions:read"];
    const broken = Buffer.from([0x0a, 0xff]);
    // Each row has the faults of all the rows below it.
    for (const [name, { metadata, path }, code, reason] of [
      ["no key", { metadata: {}, path: "Mint" }, Status.UNAUTHENTICATED, "MISSING_API_KEY"],
      ["a key that nobody has", { metadata: STRANGER, path: "Mint" }, Status.UNAUTHENTICATED, "INVALID_API_KEY"],
      ["a scope too few", { metadata: KEY, path: "Mint" }, Status.PERMISSION_DENIED, "SCOPE_REQUIRED"],
      [
        "bytes that are no message",
        { metadata: KEY, path: "GetTransaction" },
        Status.INVALID_ARGUMENT,
        "INVALID_FIELD",
      ],
    ] as const) {
      it(name, async () => {
        const under = await serve({ scopes });
        const { error, details } = await call(under.client, raw(`/kesc.v1.TransactionService/${path}`), broken, {
          metadata,
        });
        expect(error?.code).to.equal(code);
        expect(details.reason).to.equal(reason);
        expect(under.submitted).to.deep.equal([]);
        await under.close();
      });
    }
  });

  describe("is answered", () => {
    let under: ServerUnderTest;
    let submit: (command: Command) => Promise<never>;
    before(async () => {
      under = await serve({ submit: (command) => submit(command) });
    });
    after(() => under.close());
    beforeEach(() => {
      under.lines.length = 0;
      submit = async () => Promise.resolve({ kind: "done", resource: transaction(), replayed: false } as never);
    });

    it("with the caller's request id, when it is sane", async () => {
      const { initial } = await call(under.client, rpcs.mint, MINT, {
        metadata: { ...KEY, "x-request-id": "a.B:1_2-3" },
      });
      expect(initial.get("x-request-id")).to.deep.equal(["a.B:1_2-3"]);
    });

    for (const [name, sent] of [
      ["none", {}],
      ["one with a space", { "x-request-id": "a b" }],
      ["one of 129 characters", { "x-request-id": "a".repeat(129) }],
    ] as const) {
      it(`with a new request id for ${name}, on refusals too`, async () => {
        const done = await call(under.client, rpcs.mint, MINT, { metadata: { ...KEY, ...sent } });
        const refused = await call(under.client, rpcs.mint, MINT, { metadata: { ...sent } });
        expect(String(done.initial.get("x-request-id")[0])).to.match(UUID);
        expect(String(refused.initial.get("x-request-id")[0])).to.match(UUID);
        expect(refused.error?.code).to.equal(Status.UNAUTHENTICATED);
      });
    }

    it("with a mark when it is a replay, and without one when it is not", async () => {
      const first = await call(under.client, rpcs.mint, MINT);
      submit = async () => Promise.resolve({ kind: "done", resource: transaction(), replayed: true } as never);
      const second = await call(under.client, rpcs.mint, MINT);
      expect(first.initial.get("idempotent-replayed")).to.deep.equal([]);
      expect(second.initial.get("idempotent-replayed")).to.deep.equal(["true"]);
      expect(second.response).to.deep.equal(first.response);
      expect(callLines(under.lines).map(({ replayed }) => replayed)).to.deep.equal([undefined, true]);
    });

    it("with INTERNAL and the request id, and nothing from inside, when something throws", async () => {
      submit = async () => Promise.reject(new Error("the pin of the vault is 1234"));
      const { error, details } = await call(under.client, rpcs.mint, MINT, {
        metadata: { ...KEY, "x-request-id": "r-1" },
      });
      expect(error?.code).to.equal(Status.INTERNAL);
      expect(error?.details).not.to.contain("1234");
      expect(details).to.deep.equal({ reason: "INTERNAL", domain: "kesc", facts: { request_id: "r-1" } });
      const [line] = callLines(under.lines);
      expect(line).to.include({ request_id: "r-1", code: "INTERNAL", reason: "INTERNAL", level: 50 });
      expect(line?.["trace"]).to.match(/^Error: the pin of the vault is 1234\n +at .*call\.test/);
    });

    it("with INTERNAL when the answer cannot be encoded", async () => {
      submit = async () =>
        Promise.resolve({
          kind: "done",
          resource: transaction({ metadata: undefined as never }),
          replayed: false,
        } as never);
      const { error, details } = await call(under.client, rpcs.mint, MINT);
      expect(error?.code).to.equal(Status.INTERNAL);
      expect(details.reason).to.equal("INTERNAL");
    });

    it("without a word of what the database says, in the answer or in the log", async () => {
      const driver = Object.assign(new Error("insert … values ('+254712345678')"), { code: "SQLITE_CONSTRAINT" });
      submit = async () => Promise.reject(new StoreError("rejected", driver));
      const { error, details } = await call(under.client, rpcs.mint, MINT);
      expect(details.reason).to.equal("INTERNAL");
      const seen = JSON.stringify([under.lines, error?.message]);
      expect(seen).not.to.contain("254712345678");
      expect(seen).to.contain("caused by Error SQLITE_CONSTRAINT");
    });

    it("with OK and nothing in it, and nothing done, when it is only to be validated", async () => {
      under.submitted.length = 0;
      const metadata = { ...KEY, "kesc-validate-only": "true" };
      const good = await call(under.client, rpcs.mint, MINT, { metadata });
      const bad = await call(under.client, rpcs.mint, { ...MINT, amount: "0" }, { metadata });
      expect(good.response).to.deep.equal({ transaction: undefined });
      expect(bad.details.fields?.map(({ field }) => field)).to.deep.equal(["amount"]);
      expect(under.submitted).to.deep.equal([]);
    });

    it("with a refusal when it cannot be told whether it is only to be validated", async () => {
      const { details } = await call(under.client, rpcs.mint, MINT, {
        metadata: { ...KEY, "kesc-validate-only": "1" },
      });
      expect(details.fields).to.deep.equal([{ field: "kesc-validate-only", message: "must be true or false" }]);
    });

    it("to nobody, and logged once, when the caller has gone meanwhile", async () => {
      let answer: () => void = () => undefined;
      submit = (command) =>
        new Promise((resolve) => {
          expect(command.name).to.equal("mint");
          answer = () => {
            resolve({ kind: "done", resource: transaction(), replayed: false } as never);
          };
        });
      under.submitted.length = 0;
      const calling = under.client.makeUnaryRequest(
        rpcs.mint.path,
        rpcs.mint.requestSerialize,
        rpcs.mint.responseDeserialize,
        MINT,
        metadataOf(KEY),
        () => undefined,
      );
      await eventually(() => under.submitted.length === 1);
      calling.cancel();
      await new Promise((resolve) => setTimeout(resolve, 50));
      answer();
      await eventually(() => callLines(under.lines).length === 1);
      expect(callLines(under.lines)[0]).to.include({ code: "OK", cancelled: true });
      submit = async () => Promise.resolve({ kind: "done", resource: transaction(), replayed: false } as never);
      expect((await call(under.client, rpcs.mint, MINT)).error).to.equal(undefined);
    });

    it("after two request messages with UNIMPLEMENTED, and is not done", async () => {
      under.submitted.length = 0;
      const calling = under.client.makeClientStreamRequest(
        rpcs.mint.path,
        rpcs.mint.requestSerialize,
        rpcs.mint.responseDeserialize,
        metadataOf(KEY),
        () => undefined,
      );
      const ended = new Promise<{ code: Status }>((resolve) => calling.on("status", resolve));
      calling.on("error", () => undefined);
      calling.write(MINT);
      calling.write(MINT);
      calling.end();
      expect((await ended).code).to.equal(Status.UNIMPLEMENTED);
      expect(under.submitted).to.deep.equal([]);
    });
  });

  it("tells a database that does not answer from a bug", async () => {
    const unavailable = async (): Promise<never> => Promise.reject(new StoreError("unavailable", new Error("gone")));
    const under = await serve({ reads: { ...emptyReads, transaction: unavailable } });
    const { error, details } = await call(under.client, rpcs.getTransaction, { transaction_id: TRANSACTION_ID });
    expect(error?.code).to.equal(Status.UNAVAILABLE);
    expect(details).to.deep.include({ reason: "STORAGE_UNAVAILABLE", retrySeconds: 1 });
    await under.close();
  });

  describe("hands its deadline to the ledger", () => {
    let under: ServerUnderTest;
    before(async () => {
      under = await serve({ limits: { callMillisMax: 20_000 } });
    });
    after(() => under.close());
    beforeEach(() => {
      under.submitted.length = 0;
    });
    for (const [name, askedMillis, givenMillis] of [
      ["its own", 5_000, 5_000],
      ["the most that there is, when its own is later", 60_000, 20_000],
      ["the most that there is, when it has none", undefined, 20_000],
    ] as const) {
      it(name, async () => {
        const now = Date.now();
        await call(under.client, rpcs.mint, MINT, askedMillis === undefined ? {} : { deadline: now + askedMillis });
        expect(under.submitted[0]?.deadline).to.be.closeTo(now + givenMillis, 500);
      });
    }
  });

  it("leaves one line in the log, with none of the caller's words", async () => {
    const under = await serve();
    const metadata = { ...KEY, "x-request-id": "r-1", "idempotency-key": "wanjiku@example.com" };
    await call(under.client, rpcs.mint, { ...MINT, description: "+254712345678" }, { metadata });
    await call(under.client, rpcs.mint, { ...MINT, amount: "wanjiku@example.com" }, { metadata });
    await call(under.client, rpcs.mint, MINT, { metadata: STRANGER });
    await eventually(() => callLines(under.lines).length === 3);

    const [done, refused] = callLines(under.lines);
    expect(done).to.have.all.keys(
      ...["level", "time", "pid", "hostname", "msg"],
      ...["request_id", "method", "code", "ms", "organization_id", "key_id"],
    );
    expect(done).to.include({
      request_id: "r-1",
      method: "TransactionService/Mint",
      code: "OK",
      organization_id: ORGANIZATION,
      key_id: KEY_ID,
    });
    expect(refused).to.include({ code: "INVALID_ARGUMENT", reason: "INVALID_FIELD" });
    const text = JSON.stringify(under.lines);
    for (const secret of [SECRET, STRANGER["x-api-key"], "254712345678", "example.com", MINT.account_id]) {
      expect(text).not.to.contain(secret);
    }
    await under.close();
  });
});

function metadataOf(pairs: Record<string, string>): Metadata {
  const metadata = new Metadata();
  for (const [name, value] of Object.entries(pairs)) metadata.set(name, value);
  return metadata;
}
