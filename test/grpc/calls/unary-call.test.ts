import { once } from "node:events";
import { connect as connectHttp2, constants } from "node:http2";

import { Metadata, status as Status } from "@grpc/grpc-js";
import { expect } from "chai";

import type { Scope } from "../../../src/domain/api-key.js";
import type { Command } from "../../../src/domain/operations.js";
import {
  GetTransactionRequest,
  GetTransactionResponse,
  TransactionServiceService as rpcs,
} from "../../../src/gen/kesc/v1/transaction_service.js";
import type { CallDependencies } from "../../../src/grpc/calls/call-context.js";
import { done } from "../../../src/grpc/calls/rpc-result.js";
import { unary } from "../../../src/grpc/calls/unary-call.js";
import { readContract } from "../../../src/grpc/messages/contract.js";
import { StoreError } from "../../../src/ledger/ports/store.js";
import { detailsOf } from "../../support/callers/refusal.js";
import { eventually } from "../../support/eventually.js";
import {
  doneWith,
  emptyReads,
  KEY_ID,
  MINT,
  ORGANIZATION,
  SECRET,
  serve,
  type ServerUnderTest,
  transaction,
  TRANSACTION_ID,
} from "../../support/service/grpc-server.js";
import { callLines } from "../../support/service/log-lines.js";

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
/** A message without fields. */
const FRAME = Buffer.alloc(5);
const MINT_FRAME = framed(rpcs.mint.requestSerialize(MINT));
const GET_FRAME = framed(rpcs.getTransaction.requestSerialize({ transaction_id: TRANSACTION_ID }));
const STRANGER = "kesc_nobodyHasThisSecret00";

/** A message as gRPC sends it: not compressed, with its length before it. */
function framed(message: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}

/** A method whose requests are any bytes. */
function raw(path: string) {
  const bytes = (value: Buffer): Buffer => value;
  return { ...rpcs.mint, path, requestSerialize: bytes, responseDeserialize: bytes };
}

describe("grpc: every call", () => {
  it("is of an rpc that needs a key, unless both the contract and the handler say that it needs none", () => {
    const rpc = {
      request: GetTransactionRequest,
      response: GetTransactionResponse,
      parse: () => ({ ok: true, value: undefined }) as const,
      run: () => Promise.resolve(done({ transaction: undefined })),
    };
    const [keyed] = readContract().services.flatMap(({ rpcs: all }) => all);
    if (keyed === undefined) throw new Error("the contract has no rpc");
    const dependencies = { isStopping: () => false } as CallDependencies;
    expect(() => unary({ ...rpc, isPublic: true })(keyed, dependencies)).to.throw(
      `${keyed.name} needs a key, but its handler takes none`,
    );
    expect(() => unary(rpc)({ ...keyed, isPublic: true }, dependencies)).to.throw("needs no key, but its handler does");
  });

  describe("is checked in one order: the first fault decides", () => {
    const scopes: readonly Scope[] = ["transactions:read"];
    const broken = Buffer.from([0x0a, 0xff]);
    // Each row has the faults of all the rows below it.
    for (const [name, { key, path }, code, reason] of [
      ["no key", { key: "", path: "Mint" }, Status.UNAUTHENTICATED, "MISSING_API_KEY"],
      ["a key that nobody has", { key: STRANGER, path: "Mint" }, Status.UNAUTHENTICATED, "INVALID_API_KEY"],
      ["a scope too few", { key: SECRET, path: "Mint" }, Status.PERMISSION_DENIED, "SCOPE_REQUIRED"],
      ["bytes that are no message", { key: SECRET, path: "GetTransaction" }, Status.INVALID_ARGUMENT, "INVALID_FIELD"],
    ] as const) {
      it(name, async () => {
        const under = await serve({ scopes });
        const method = raw(`/kesc.v1.TransactionService/${path}`);
        expect(await under.grpc.call(method, broken, { key })).to.include({ code, reason });
        expect(under.submitted).to.deep.equal([]);
        await under.close();
      });
    }

    it("a field of the wrong shape, before the ledger looks at the account", async () => {
      const under = await serve();
      const refused = await under.grpc.call(rpcs.mint, { ...MINT, amount: "x" });
      expect(refused).to.include({ code: Status.INVALID_ARGUMENT, reason: "INVALID_FIELD" });
      expect(under.submitted).to.deep.equal([]);
      await under.close();
    });
  });

  it("refuses an idempotency key that it cannot keep if it writes, and ignores one if it only reads", async () => {
    const under = await serve();
    const metadata = { "idempotency-key": "try-1" };
    const refusing: string[] = [];
    for (const { name, path, streams, requiredScope } of readContract().services.flatMap(({ rpcs: all }) => all)) {
      if (streams !== "none" || requiredScope === undefined) continue;
      const { fields } = await under.grpc.call(raw(path), Buffer.alloc(0), { metadata });
      const problem = fields?.find(({ field }) => field === "idempotency-key");
      if (problem === undefined) continue;
      expect(problem).to.include({ code: "CONFLICT" });
      expect(requiredScope).not.to.match(/:read$/);
      refusing.push(name);
    }
    await under.close();
    expect(refusing).to.include.members([
      "AccountService/UpdateAccount",
      "TransactionService/BatchCreateTransactions",
      "TransactionService/CancelTransaction",
      "WebhookService/DeleteWebhookEndpoint",
      "SandboxService/AdvanceTransaction",
    ]);
    expect(refusing).not.to.include.members(["TransactionService/Mint", "WebhookService/CreateWebhookEndpoint"]);
  });

  describe("responds", () => {
    let under: ServerUnderTest;
    let submit: (command: Command) => Promise<never>;
    before(async () => {
      under = await serve({ submit: (command) => submit(command) });
    });
    after(() => under.close());
    beforeEach(() => {
      under.lines.length = 0;
      submit = async () => Promise.resolve(doneWith() as never);
    });

    it("with the caller's request id, when that is valid", async () => {
      const { headers } = await under.grpc.call(rpcs.mint, MINT, {
        metadata: { "x-request-id": "a.B:1_2-3" },
      });
      expect(headers.get("x-request-id")).to.deep.equal(["a.B:1_2-3"]);
    });

    for (const [name, sent] of [
      ["none", {}],
      ["one with a space", { "x-request-id": "a b" }],
      ["one of 129 characters", { "x-request-id": "a".repeat(129) }],
    ] as const) {
      it(`with a new request id for ${name}, on refusals too`, async () => {
        const done = await under.grpc.call(rpcs.mint, MINT, { metadata: sent });
        const refused = await under.grpc.call(rpcs.mint, MINT, { key: "", metadata: sent });
        expect(String(done.headers.get("x-request-id")[0])).to.match(UUID);
        expect(String(refused.headers.get("x-request-id")[0])).to.match(UUID);
        expect(refused.code).to.equal(Status.UNAUTHENTICATED);
      });
    }

    for (const [name, path, sent, body, expected] of [
      ["a key that nobody has", rpcs.mint.path, { "x-api-key": "kesc_x" }, FRAME, "INVALID_API_KEY"],
      ["an rpc that there is not", "/kesc.v1.TransactionService/Mine", {}, FRAME, "NO_SUCH_RPC"],
      ["bytes that are no message", rpcs.mint.path, {}, Buffer.of(0, 0, 0, 0, 1, 255), "INVALID_FIELD"],
      ["a guard in another spelling", rpcs.mint.path, { "x-idempotency-key": "a" }, MINT_FRAME, "MALFORMED_REQUEST"],
      ["a guard of REST", rpcs.mint.path, { "if-match": "a" }, MINT_FRAME, "MALFORMED_REQUEST"],
      ["half a frame", rpcs.mint.path, {}, Buffer.of(0, 0, 0), "MALFORMED_REQUEST"],
      ["a database that is away", rpcs.mint.path, {}, MINT_FRAME, "STORAGE_UNAVAILABLE"],
    ] as const) {
      it(`with one set of headers that has everything, to ${name}`, async () => {
        submit = async () => Promise.reject(new StoreError("unavailable", new Error("gone")));
        const session = connectHttp2(`http://${under.server.address}`);
        const type = { ":method": "POST", "content-type": "application/grpc", "x-request-id": "r-1" };
        const stream = session.request({ ...type, "x-api-key": SECRET, ":path": path, ...sent });
        stream.end(body);
        const [headers, flags] = (await once(stream, "response")) as [Record<string, string>, number];
        session.destroy();
        expect(flags & constants.NGHTTP2_FLAG_END_STREAM, "the flag of the last frame").to.be.above(0);
        const metadata = new Metadata();
        metadata.set("grpc-status-details-bin", Buffer.from(headers["grpc-status-details-bin"] ?? "", "base64"));
        const { reason, retrySeconds } = detailsOf(metadata);
        expect(reason).to.equal(expected);
        expect(headers["x-request-id"]).to.equal("r-1");
        // What retry policies read says the same as the RetryInfo.
        const pushback = headers["grpc-retry-pushback-ms"];
        expect(pushback === undefined ? undefined : Number(pushback) / 1_000).to.equal(retrySeconds);
        if (expected === "STORAGE_UNAVAILABLE") expect(retrySeconds).to.be.above(0);
      });
    }

    for (const [name, { path }, body, expected] of [
      ["a write", rpcs.mint, MINT_FRAME, "OUTCOME_UNKNOWN"],
      ["a read", rpcs.getTransaction, GET_FRAME, "DEADLINE_EXCEEDED"],
    ] as const) {
      it(`with ${expected} to ${name} that its deadline has ended`, async () => {
        const ended = new AbortController();
        const hanging = (): Promise<never> =>
          new Promise((_, reject) => {
            ended.signal.addEventListener("abort", () => {
              reject(new Error("the test is over"));
            });
          });
        const slow = await serve({ submit: hanging, reads: { ...emptyReads, transaction: hanging } });
        const session = connectHttp2(`http://${slow.server.address}`);
        const type = { ":method": "POST", "content-type": "application/grpc", "grpc-timeout": "100m" };
        const stream = session.request({ ...type, "x-api-key": SECRET, ":path": path });
        stream.end(body);
        const [headers] = (await once(stream, "response")) as [Record<string, string>];
        session.destroy();
        const metadata = new Metadata();
        metadata.set("grpc-status-details-bin", Buffer.from(headers["grpc-status-details-bin"] ?? "", "base64"));
        expect(detailsOf(metadata).reason).to.equal(expected);
        ended.abort();
        await slow.close();
      });
    }

    it("with a mark when it is a replay, and without one when it is not", async () => {
      const first = await under.grpc.call(rpcs.mint, MINT);
      submit = async () => Promise.resolve(doneWith(true) as never);
      const second = await under.grpc.call(rpcs.mint, MINT);
      expect(first.headers.get("idempotent-replayed")).to.deep.equal([]);
      expect(second.headers.get("idempotent-replayed")).to.deep.equal(["true"]);
      expect(second.response).to.deep.equal(first.response);
      expect(callLines(under.lines).map(({ replayed }) => replayed)).to.deep.equal([undefined, true]);
    });

    it("with INTERNAL and the request id, and nothing from inside, when something throws", async () => {
      submit = async () => Promise.reject(new Error("the pin of the vault is 1234"));
      const { headers, ...refused } = await under.grpc.call(rpcs.mint, MINT, { metadata: { "x-request-id": "r-1" } });
      expect(headers.get("x-request-id")).to.deep.equal(["r-1"]);
      expect(refused.message).not.to.contain("1234");
      expect(refused).to.deep.equal({
        code: Status.INTERNAL,
        message: refused.message,
        reason: "INTERNAL",
        domain: "kesc",
        facts: { request_id: "r-1" },
        response: undefined,
        replayed: false,
        proposalId: undefined,
      });
      const [line] = callLines(under.lines);
      expect(line).to.include({ request_id: "r-1", code: "INTERNAL", reason: "INTERNAL", level: 50 });
      expect(line?.["trace"]).to.match(/^Error: the pin of the vault is 1234\n +at .*call\.test/);
    });

    it("with INTERNAL when the response can't be encoded", async () => {
      submit = async () =>
        Promise.resolve({
          kind: "done",
          resource: transaction({ metadata: undefined as never }),
          replayed: false,
        } as never);
      const refused = await under.grpc.call(rpcs.mint, MINT);
      expect(refused).to.include({ code: Status.INTERNAL, reason: "INTERNAL" });
    });

    it("without the words of the database, in the response and in the log", async () => {
      const driver = Object.assign(new Error("insert … values ('+254712345678')"), { code: "SQLITE_CONSTRAINT" });
      submit = async () => Promise.reject(new StoreError("rejected", driver));
      const { reason, message } = await under.grpc.call(rpcs.mint, MINT);
      expect(reason).to.equal("INTERNAL");
      const seen = JSON.stringify([under.lines, message]);
      expect(seen).not.to.contain("254712345678");
      expect(seen).to.contain("caused by Error SQLITE_CONSTRAINT");
    });

    it("with an empty OK, and does nothing, when the caller only validates", async () => {
      under.submitted.length = 0;
      const metadata = { "kesc-validate-only": "true" };
      const good = await under.grpc.call(rpcs.mint, MINT, { metadata });
      const bad = await under.grpc.call(rpcs.mint, { ...MINT, amount: "0" }, { metadata });
      expect(good.response).to.deep.equal({ transaction: undefined });
      expect(bad.fields?.map(({ field }) => field)).to.deep.equal(["amount"]);
      expect(under.submitted).to.deep.equal([]);
    });

    it("with a refusal when kesc-validate-only is neither true nor false", async () => {
      const { fields } = await under.grpc.call(rpcs.mint, MINT, {
        metadata: { "kesc-validate-only": "1" },
      });
      expect(fields).to.deep.equal([{ field: "kesc-validate-only", message: "must be true or false", code: "FORMAT" }]);
    });

    it("with one line in the log when the caller has cancelled meanwhile", async () => {
      let answer: () => void = () => undefined;
      submit = (command) =>
        new Promise((resolve) => {
          expect(command.name).to.equal("mint");
          answer = () => {
            resolve(doneWith() as never);
          };
        });
      under.submitted.length = 0;
      const calling = under.grpc.open(rpcs.mint);
      calling.send(MINT);
      calling.end();
      await eventually(() => under.submitted.length === 1);
      calling.cancel();
      await new Promise((resolve) => setTimeout(resolve, 50));
      answer();
      await eventually(() => callLines(under.lines).length === 1);
      expect(callLines(under.lines)[0]).to.include({ code: "OK", cancelled: true });
      submit = async () => Promise.resolve(doneWith() as never);
      expect((await under.grpc.call(rpcs.mint, MINT)).code).to.equal(Status.OK);
    });
  });

  it("is UNAVAILABLE when the database does not answer, and not INTERNAL", async () => {
    const unavailable = async (): Promise<never> => Promise.reject(new StoreError("unavailable", new Error("gone")));
    const under = await serve({ reads: { ...emptyReads, transaction: unavailable } });
    const refused = await under.grpc.call(rpcs.getTransaction, { transaction_id: TRANSACTION_ID });
    expect(refused).to.include({ code: Status.UNAVAILABLE, reason: "STORAGE_UNAVAILABLE", retrySeconds: 1 });
    await under.close();
  });

  describe("passes its deadline to the ledger", () => {
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
        const before = Date.now();
        await under.grpc.call(rpcs.mint, MINT, askedMillis === undefined ? {} : { deadlineMillis: askedMillis });
        // On the wire a deadline is a number of whole milliseconds from now.
        expect(under.submitted[0]?.deadline).to.be.within(before + givenMillis - 1, Date.now() + givenMillis + 1);
      });
    }
  });

  it("leaves one line in the log, without the caller's words", async () => {
    const under = await serve();
    const metadata = { "x-request-id": "r-1", "idempotency-key": "wanjiku@example.com" };
    await under.grpc.call(rpcs.mint, { ...MINT, description: "+254712345678" }, { metadata });
    await under.grpc.call(rpcs.mint, { ...MINT, amount: "wanjiku@example.com" }, { metadata });
    await under.grpc.call(rpcs.mint, MINT, { key: STRANGER });
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
    for (const secret of [SECRET, STRANGER, "254712345678", "example.com", MINT.account_id]) {
      expect(text).not.to.contain(secret);
    }
    await under.close();
  });
});
